package check

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// Rechecker checks texts again that the types of the cluster may judge otherwise by now, one
// after the other and in the background: an edit of another text does not wait for it.
type Rechecker struct {
	checker *Checker
	busy    bool
	ended   chan Recheck
	waits   map[string]wait
}

// Recheck is a text that was checked again.
type Recheck struct {
	id            string
	before, after *lifecycle.CheckResult
}

// wait is when a text may be checked again.
type wait struct {
	revision string
	next     time.Time
	delay    time.Duration
}

// maxDelay bounds the delay between two checks of a text, which doubles each time.
const maxDelay = 10 * time.Minute

// NewRechecker returns a Rechecker that is idle.
func NewRechecker(c *Checker) *Rechecker {
	return &Rechecker{checker: c, ended: make(chan Recheck, 1), waits: map[string]wait{}}
}

// Ended returns the channel of the text that was checked, which is for Complete.
func (r *Rechecker) Ended() <-chan Recheck { return r.ended }

// Start checks a text unless one is being checked or its time has not come. The first delay of
// a text is given; start runs a function in the background.
func (r *Rechecker) Start(ctx context.Context, id string, before *lifecycle.CheckResult, origin *source.Contents, first time.Duration, start func(func())) {
	now, w := time.Now(), r.waits[id]
	if revision := before.Unit.Revision(); w.revision != revision {
		w = wait{revision: revision, delay: first / 2}
	}
	if r.busy || origin == nil || now.Before(w.next) {
		return
	}
	w.delay = min(2*w.delay, maxDelay)
	w.next = now.Add(w.delay)
	r.waits[id], r.busy = w, true
	unit := before.Unit
	start(func() { r.ended <- Recheck{id, before, r.checker.check(ctx, unit, origin)} })
}

// Complete stores the result of a check, and reports whether it is another one than before.
func (r *Rechecker) Complete(done Recheck, policies *lifecycle.Registry) bool {
	r.busy = false
	if policies.Get(done.id).Newest != done.before {
		return false // there is another text
	}
	same := (done.after.Plan != nil) == done.before.Good()
	if same {
		done.after.Recheck = lifecycle.Rechecked
	} else {
		r.checker.count(done.id, done.after)
	}
	policies.Check(done.id, done.after)
	return !same || done.after.Typed != done.before.Typed
}

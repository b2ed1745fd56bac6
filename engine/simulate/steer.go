package simulate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/reconcile"
)

// Work is a key that is to be decided about.
type Work struct {
	Policy string
	Key    eval.Key
}

// String returns how an order names it: POLICY [NAMESPACE/]NAME.
func (w Work) String() string { return w.Policy + " " + w.Key.String() }

// Others stands in an order for all keys that it does not name, as they come.
const Others = "..."

// errKilled is what a write comes to that the process does not live to send.
var errKilled = errors.New("the controller was killed before this write")

// killing counts the writes after which the process is killed.
type killing struct {
	armed bool
	left  int
}

func (k *killing) dead() bool { return k.armed && k.left <= 0 }

func (k *killing) wrote() {
	if k.armed {
		k.left--
	}
}

// take returns the next key to decide about; false when the order names no other.
func (s *Simulation) take() (item, bool) {
	if s.order == nil {
		return s.work.next(), true
	}
	for len(s.order) > 0 {
		name := s.order[0]
		s.order = s.order[1:]
		if name == Others {
			s.order = nil
			return s.work.next(), true
		}
		at := slices.IndexFunc(s.work.items, func(i item) bool { return work(i).String() == name })
		if at >= 0 {
			i := s.work.items[at]
			s.work.remove(at)
			return i, true
		}
	}
	return item{}, false
}

func work(i item) Work { return Work{Policy: i.policy, Key: i.key} }

// survived returns of a reconciliation what came to pass before the process was
// killed: nobody is left to tell of the rest.
func survived(r reconcile.Result, k *killing) reconcile.Result {
	if k.dead() {
		r.Err, r.Final, r.Reported = nil, nil, nil
	}
	return r
}

// killed ends the process in the middle of a decision, and starts another one.
func (s *Simulation) killed(ctx context.Context) bool {
	if !s.server.kill.dead() {
		return false
	}
	s.server.kill = killing{}
	s.boot(ctx)
	return true
}

// Pending returns the keys that are to be decided about now, sorted.
func (s *Simulation) Pending() []Work {
	items := slices.SortedFunc(slices.Values(s.work.items), compareItems)
	out := make([]Work, len(items))
	for n, i := range items {
		out[n] = work(i)
	}
	return out
}

// Decide decides about one key that is pending.
func (s *Simulation) Decide(ctx context.Context, w Work) {
	s.order = []string{w.String()}
	s.Settle(ctx)
}

// Effects returns what was written so far. It must not be changed.
func (s *Simulation) Effects() []Effect { return s.result.Effects }

// Errors returns what has failed so far. It must not be changed.
func (s *Simulation) Errors() []Error { return s.result.Errors }

// Due returns the first instant at which something is due, or false.
func (s *Simulation) Due() (time.Time, bool) { return s.next() }

// Timers returns when keys are due, by policy and key.
func (s *Simulation) Timers(visit func(w Work, at time.Time)) {
	for _, list := range []*schedule{s.timers, s.retries} {
		for _, d := range list.all() {
			visit(work(d.item), d.at)
		}
	}
}

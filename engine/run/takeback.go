package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
)

// TakeBack says when a new revision is taken back without anybody asking for it.
// Its zero value never does so.
type TakeBack struct {
	// Within is how long after it came into force a revision may be taken back.
	Within time.Duration
	// Share of the policy's objects, from 0 to 1, that fail then.
	Share float64
}

// takeBack takes the revisions back under which too much fails since they came
// into force, and reports whether there are any.
func (l *library) takeBack(now time.Time) (any bool) {
	if l.TakeBack.Within == 0 {
		return false
	}
	for _, id := range l.policies.AssignedIDs() {
		p := l.policies.Get(id)
		v := p.Newest
		if !p.RunsNewest() || id != v.Unit.Name() || now.Sub(p.Since) > l.TakeBack.Within {
			continue
		}
		if failing, all, example := l.failing(id, now); all > 0 && float64(failing) >= l.TakeBack.Share*float64(all) && failing > 0 {
			any = l.replace(id, v, fmt.Sprintf("taken back: %d of %d objects fail since it came into force: %s", failing, all, example)) || any
		}
	}
	return any
}

// failing counts the objects of a policy that fail.
func (l *library) failing(id string, now time.Time) (failing, all int, example string) {
	r := l.runner(id)
	if r == nil {
		return 0, 0, ""
	}
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	if r.health.controller == nil {
		return 0, 0, ""
	}
	first, n := r.health.first(now)
	return n, len(r.health.controller.Keys()), fmt.Sprintf("%s: %s", first, r.health.failing[first].text)
}

// replace puts the revision before in force. Without one the present goes on.
func (l *library) replace(id string, v *lifecycle.CheckResult, why string) bool {
	entries := l.store.entries[id]
	at := slices.IndexFunc(entries, func(e *history.Entry) bool { return e.Revision == v.Unit.Revision() })
	before := history.Good(entries[:max(at, 0)])
	if before == nil {
		return false
	}
	u := before.Unit()
	if u == nil {
		return false
	}
	good := l.judge.text(u)
	if !good.Good() {
		return false
	}
	l.Log.Error("a revision is taken back", observe.LogPolicy, id, observe.LogRevision, v.Unit.Revision(), "reason", why, "instead", before.Revision)
	now := *v
	now.Plan, now.Compiled = nil, true
	now.Problems = append(slices.Clone(v.Problems), document.Problem{Position: v.Unit.Document.Pos, Severity: document.Error, Message: why,
		Hint: "the revision " + before.Revision + " runs again; mend the text, or take it back as well: edict rollback " + id})
	l.policies.TakeBack(id, &now, &good.Revision)
	observe.Reloads.WithLabelValues(id, "taken back").Inc()
	return true
}

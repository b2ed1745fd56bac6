package reconcile

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// rejections are writes of children that the API server has refused for what they say.
// Effects of the rules below are not written then, since they were decided as if the
// child had been made. So the key is decided about once more at once, with the items
// that wanted these writes failing, and for some time whatever wakes it: what it writes
// then must not be undone by a decision that hopes for the child again. The first try
// after that makes the writes again.
type rejections struct {
	list  []eval.Rejection
	since time.Time
}

// rejectedFor is how long writes that were refused are left out at least.
const rejectedFor = 5 * time.Second

func makesChildren(p *plan.Policy, rule int) bool { return p.Rules[rule].Child != "" }

// leftOut returns the writes that are left out of a decision.
func (k *known) leftOut(key eval.Key, now time.Time) []eval.Rejection {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states[key]
	if s == nil || s.rejected == nil {
		return nil
	}
	if now.Sub(s.rejected.since) >= rejectedFor {
		s.rejected = nil
		return nil
	}
	return s.rejected.list
}

// rejected returns what was refused now of what makes the children of a policy. Some of
// it may have been refused before.
func (r *Result) rejected(p *plan.Policy, before []eval.Rejection) (out []eval.Rejection) {
	for _, o := range r.Outcomes {
		if !makesChildren(p, o.Effect.Rule) || !apply.IsRejected(o.Err) {
			continue
		}
		again := slices.ContainsFunc(before, func(x eval.Rejection) bool { return x.About(o.Effect) })
		out = append(out, eval.Rejection{Effect: o.Effect, Err: o.Err, Any: again})
	}
	return out
}

// reject notes what was refused, beside what is left out already, and lets the key be
// decided about at once. It reports whether there was any.
func (r *reconciliation) reject() bool {
	before := r.evaluation.in.Rejected
	if rollout := r.c.known.revisions.rollout.Load(); rollout != nil && len(before) == 0 { // what was left out was not tried
		rollout.noteRejections(r.c, r.key, r.result.Outcomes)
	}
	now := r.result.rejected(r.c.Policy, before)
	if len(now) == 0 || !r.c.known.reject(r.key, &rejections{list: now, since: r.now}, before) {
		return false
	}
	r.result.Next = r.now
	return true
}

// reject notes what was refused now for a key, beside what was left out of the decision
// because it was refused before. It reports false when the key is gone or another
// revision decides about it by now.
func (k *known) reject(key eval.Key, now *rejections, before []eval.Rejection) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states[key]
	if s == nil || s.memo == nil || k.revisions.successor != nil {
		return false
	}
	if s.rejected != nil && len(before) > 0 {
		now.list, now.since = append(now.list, before...), s.rejected.since
	}
	s.rejected = now
	return true
}

package reconcile

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// rejections are writes that the API server has refused because of their content: writes of
// children, and joined writes of several items. The effects of later rules are not written
// then, since they were decided as if the write had succeeded. Instead the key is evaluated
// again at once, and the items of these writes fail. They fail for rejectedFor, whatever wakes
// the key, so that no evaluation in between expects the child again. Then the writes are sent
// again, except for lasting rejections.
//
// A joined write is divided once: its items are written one by one. Refused items are not
// written again until they change; the others are joined again.
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
		s.rejected = s.rejected.only(func(x eval.Rejection) bool { return x.Lasting })
	}
	if s.rejected == nil {
		return nil
	}
	return s.rejected.list
}

// only returns those that are kept; nil if there are none.
func (r *rejections) only(kept func(eval.Rejection) bool) *rejections {
	out := &rejections{since: r.since}
	for _, x := range r.list {
		if kept(x) {
			out.list = append(out.list, x)
		}
	}
	if len(out.list) == 0 {
		return nil
	}
	return out
}

// decidesAgain reports whether a key is decided about once more at once if the API server
// refuses an effect of its decision. before are the writes that it has refused already.
func decidesAgain(p *plan.Policy, before eval.Rejections, e *eval.Effect) bool {
	return makesChildren(p, e.Rule) || len(e.Also) > 0 || before.Divide(e)
}

// rejected returns the writes that were refused now. Some may have been refused before.
func (r *reconciliation) rejected() (out []eval.Rejection) {
	before := r.evaluation.in.Rejected
	for _, o := range r.result.Outcomes {
		if !apply.IsRejected(o.Err) || !decidesAgain(r.c.Policy, before, o.Effect) {
			continue
		}
		again := slices.ContainsFunc(before, func(x eval.Rejection) bool { return !x.Joined() && x.About(o.Effect) })
		lasting := apply.IsLasting(o.Err) || before.Divide(o.Effect) && !apply.IsForbidden(o.Err)
		out = append(out, eval.Rejection{Effect: o.Effect, Err: o.Err, Any: again, Lasting: lasting && !again && len(o.Effect.Also) == 0})
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
	now := r.rejected()
	if len(now) == 0 && len(before) == 0 {
		return false
	}
	noted := r.c.known.reject(r.key, &rejections{list: now, since: r.now}, r.stillRejected())
	if !noted || len(now) == 0 {
		return false
	}
	r.result.Next = r.now
	return true
}

// stillRejected returns the rejections of the decision that stay. Those whose item has decided
// another write, and those of divided writes, end.
func (r *reconciliation) stillRejected() (out []eval.Rejection) {
	for i, x := range r.evaluation.in.Rejected {
		if !x.Joined() && (!x.Lasting || slices.Contains(r.result.Decision.Rejected, i)) {
			out = append(out, x)
		}
	}
	return out
}

// reject notes the rejections of a decision, and those that stay. It reports false if the key
// is gone or another revision has taken over.
func (k *known) reject(key eval.Key, now *rejections, still []eval.Rejection) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states[key]
	if s == nil || s.memo == nil || k.revisions.successor != nil {
		return false
	}
	if s.rejected != nil && slices.ContainsFunc(still, func(x eval.Rejection) bool { return !x.Lasting }) {
		now.since = s.rejected.since
	}
	if now.list = append(now.list, still...); len(now.list) == 0 {
		now = nil
	}
	s.rejected = now
	return true
}

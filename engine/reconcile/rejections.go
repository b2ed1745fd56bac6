package reconcile

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
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

func (c *Controller) makesChildren(rule int) bool { return c.Policy.Rules[rule].Child != "" }

// leftOut returns the writes that are left out of a decision.
func (c *Controller) leftOut(key eval.Key, now time.Time) []eval.Rejection {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.states[key]
	if k == nil || k.rejected == nil {
		return nil
	}
	if now.Sub(k.rejected.since) >= rejectedFor {
		k.rejected = nil
		return nil
	}
	return k.rejected.list
}

// refused returns what was refused now.
func (r *reconciliation) refused() (out []eval.Rejection) {
	for _, o := range r.result.Outcomes {
		if !r.c.makesChildren(o.Effect.Rule) || !apply.IsRejected(o.Err) {
			continue
		}
		before := slices.ContainsFunc(r.in.Rejected, func(x eval.Rejection) bool { return x.About(o.Effect) })
		out = append(out, eval.Rejection{Effect: o.Effect, Err: o.Err, Any: before})
	}
	return out
}

// reject notes what was refused, beside what is left out already, and lets the key be
// decided about at once. It reports whether there was any.
func (r *reconciliation) reject() bool {
	now := &rejections{list: r.refused(), since: r.now}
	if len(now.list) == 0 {
		return false
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	k := r.c.states[r.key]
	if k == nil || k.memo == nil || r.c.successor != nil {
		return false
	}
	if k.rejected != nil && len(r.in.Rejected) > 0 {
		now.list, now.since = append(now.list, r.in.Rejected...), k.rejected.since
	}
	k.rejected, r.result.Next = now, r.now
	return true
}

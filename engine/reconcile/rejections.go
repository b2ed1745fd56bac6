package reconcile

import (
	"slices"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
)

// rejections are writes of children that the API server has refused for what they say.
// Effects of the rules below are not written then, since they were decided as if the
// child had been made. So the key is decided about once more at once, with the items
// that wanted these writes failing; the try after that makes them again.
type rejections struct{ list []eval.Rejection }

// takeRejected hands over what was refused last.
func (c *Controller) takeRejected(key eval.Key) []eval.Rejection {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.states[key]
	if k == nil || k.rejected == nil {
		return nil
	}
	out := k.rejected.list
	k.rejected = nil
	return out
}

// rejected returns what was refused now. What differs from one try to the next, such as
// the time, is refused again and again: then it is nothing, and the back-off counts.
func (r *reconciliation) rejected() (out []eval.Rejection) {
	for _, o := range r.result.Outcomes {
		if !r.c.Policy.Rules[o.Effect.Rule].Child || !apply.IsRejected(o.Err) {
			continue
		}
		if slices.ContainsFunc(r.in.Rejected, func(x eval.Rejection) bool { return x.About(o.Effect) }) {
			return nil
		}
		out = append(out, eval.Rejection{Effect: o.Effect, Err: o.Err})
	}
	return out
}

// reject notes what was refused, beside what is left out already, and lets the key be
// decided about at once.
func (r *reconciliation) reject() {
	fresh := r.rejected()
	if len(fresh) == 0 {
		return
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if k := r.c.states[r.key]; k != nil && k.memo != nil && r.c.successor == nil {
		k.rejected = &rejections{append(r.in.Rejected, fresh...)}
		r.result.Next = r.now
	}
}

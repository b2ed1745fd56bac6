package reconcile

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// rejections are writes that the API server has refused. The effects of later rules are not
// written if a write of a child was refused, or a joined write of several items, since they
// were decided as if the write had succeeded. Instead the key is evaluated again at once, and
// the items of these writes fail, whatever wakes the key, until the wait is over: no
// evaluation in between expects the child again. Then the writes are sent again, except for
// lasting rejections.
//
// A joined write is divided once: its items are written one by one. Refused items are not
// written again until they change; the others are joined again.
type rejections struct {
	list  []eval.Rejection
	since time.Time
	// tries counts how often in a row something was refused after a wait.
	tries int
}

// The waits double, up to a minute.
const (
	minRejected = 5 * time.Second
	maxRejected = time.Minute
)

// until returns when the wait is over.
func (r *rejections) until() time.Time {
	return r.since.Add(min(minRejected<<min(r.tries, 4), maxRejected))
}

func makesChildren(p *plan.Policy, rule int) bool { return p.Rules[rule].Child != "" }

// leftOut returns the writes that are left out of a decision. failed reports whether a write has
// failed in the last one.
func (k *known) leftOut(key eval.Key, now time.Time) (out []eval.Rejection, failed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states[key]
	if s == nil || s.rejected == nil {
		return nil, false
	}
	if !now.Before(s.rejected.until()) {
		s.rejected.list = slices.DeleteFunc(slices.Clone(s.rejected.list), func(x eval.Rejection) bool { return !x.Lasting })
	}
	return s.rejected.list, true
}

// stops reports whether the effects of later rules are not written because of the error of an
// effect. before are the writes that were refused already.
func stops(p *plan.Policy, before eval.Rejections, e *eval.Effect, err error) bool {
	return makesChildren(p, e.Rule) && apply.IsAnswer(err) || apply.IsRejected(err) && (len(e.Also) > 0 || before.Divide(e))
}

// rejected returns the writes that were refused now. Some may have been refused before. failed
// reports whether there are any, or others whose error is transient.
func (r *reconciliation) rejected() (out []eval.Rejection, failed bool) {
	before := r.evaluation.in.Rejected
	for _, o := range r.result.Outcomes {
		if !stops(r.c.Policy, before, o.Effect, o.Err) {
			continue
		}
		if failed = true; !r.retries && apply.IsTransient(o.Err) {
			continue
		}
		again := slices.ContainsFunc(before, func(x eval.Rejection) bool { return !x.Joined() && x.About(o.Effect) })
		lasting := apply.IsLasting(o.Err) || before.Divide(o.Effect) && !apply.IsForbidden(o.Err)
		out = append(out, eval.Rejection{Effect: o.Effect, Err: o.Err, Any: again, Lasting: lasting && !again && len(o.Effect.Also) == 0})
	}
	return out, failed
}

// reject notes what was refused, beside what is left out already, and lets the key be
// decided about at once. It reports whether there was any.
func (r *reconciliation) reject() bool {
	before := r.evaluation.in.Rejected
	if rollout := r.c.known.revisions.rollout.Load(); rollout != nil && len(before) == 0 { // what was left out was not tried
		rollout.noteRejections(r.c, r.key, r.result.Outcomes)
	}
	now, failed := r.rejected()
	if !failed && len(before) == 0 && !r.retries {
		return false
	}
	noted := r.c.known.reject(r.key, rejections{list: now, since: r.now}, r.stillRejected(), failed)
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

// reject notes the rejections of a decision, and those that stay; failed says that a write has
// failed. It reports false if the key is gone or another revision has taken over.
func (k *known) reject(key eval.Key, now rejections, still []eval.Rejection, failed bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states[key]
	if s == nil || s.memo == nil || k.revisions.successor != nil {
		return false
	}
	switch old := s.rejected; {
	case old == nil:
	case now.since.Before(old.until()):
		now.since, now.tries = old.since, old.tries
	case failed:
		now.tries = old.tries + 1
	}
	s.rejected = nil
	if now.list = append(now.list, still...); failed || len(now.list) > 0 {
		s.rejected = &now
	}
	return true
}

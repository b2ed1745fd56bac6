package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/world"
)

// settled is a decision that wanted nothing: it wrote, called, logged, remembered and
// delayed nothing, and nothing failed. While everything that it was computed from is the
// same, the next decision is the same.
type settled struct {
	object  *world.Object
	initial bool
	// found are the objects that actions looked up besides.
	found               []*world.Object
	ran, reached, fired RuleSet
	// again is the decision as it was repeated last.
	again *Decision
}

// decision returns the decision again, with what the check of it has noted.
func (s *settled) decision(checked *Decision, cost uint64) *Decision {
	if s.again == nil || !s.again.Next.Equal(checked.Next) || s.again.Skipped != checked.Skipped || s.again.Cost != cost {
		s.again = &Decision{Revision: checked.Revision, Next: checked.Next, Ran: s.ran, Reached: s.reached, Fired: s.fired, Skipped: checked.Skipped, Cost: cost}
	}
	return s.again
}

// repeated returns the last decision again if it was settled and still holds, or nil.
func (r *memoReader) repeated() *Decision {
	s, ev := r.memo.settled, r.ev
	if s == nil || s.object != ev.object || s.initial != ev.in.Initial || ev.pendingOnly || ev.in.Flush || ev.in.Details != nil || ev.in.Judged != nil || ev.in.Rejected != nil {
		return nil
	}
	if !s.finds(ev) || !(checking{r.ev}).still(&r.memo.rules, nil, nil) {
		r.memo.serial++ // the deadlines of what was checked are to be noted again
		return nil
	}
	ev.noteFlip(r.memo.rules.until)
	if r.computed {
		r.memo.weigh()
	}
	r.pop()
	r.scratch.free(r.rules)
	ev.meter.Close()
	return s.decision(ev.decision, ev.meter.Spent())
}

// finds reports whether the objects that were looked up are the same.
func (s *settled) finds(ev *evaluation) bool {
	return !slices.ContainsFunc(s.found, func(o *world.Object) bool { return ev.stored(o.ID()) != o })
}

// settle notes whether the decision is settled.
func (r *memoReader) settle() {
	ev := r.ev
	if ev.object == nil || ev.unsettled || ev.in.Rejected != nil || ev.pendingOnly || ev.overlay.used() || !ev.decision.wantsNothing() {
		r.memo.settled = nil
		return
	}
	s := r.memo.settled
	if s == nil {
		s = &settled{}
		r.memo.settled = s
	}
	s.object, s.initial, s.found = ev.object, ev.in.Initial, refilled(s.found, once(ev.found))
	s.ran, s.reached, s.fired, s.again = ev.decision.Ran, ev.decision.Reached, ev.decision.Fired, nil
}

// once returns a list with each object once.
func once(list []*world.Object) []*world.Object {
	if len(list) <= lastFound {
		return list // note has seen to it
	}
	seen := make(map[*world.Object]bool, len(list))
	return slices.DeleteFunc(list, func(o *world.Object) bool {
		was := seen[o]
		seen[o] = true
		return was
	})
}

// bytes is what it takes in memory, apart from the objects.
func (s *settled) bytes() int {
	if s == nil {
		return 0
	}
	return foundBytes * cap(s.found)
}

// foundBytes is what is kept of an object that was looked up.
const foundBytes = 8

// wantsNothing reports whether nothing is to be done, and nothing was reported.
func (d *Decision) wantsNothing() bool {
	return len(d.Effects)+len(d.Problems)+len(d.Log)+len(d.Debounced)+len(d.Rated)+len(d.Remember)+len(d.Calls)+d.Skipped == 0 && !d.Unselected
}

// maxFound is how many objects a settled decision may have looked up, lastFound how many of
// them are looked through for one that is noted already: most are looked up again at once.
const (
	maxFound  = 1 << 14
	lastFound = 64
)

// note notes an object that an action looked up. Nothing is kept of one that is not there,
// nor of more than a key has in practice.
func (ev *evaluation) note(o *world.Object) {
	switch {
	case ev.unsettled, o != nil && o == ev.object:
	case o == nil || len(ev.found) == maxFound:
		ev.unsettled = true
	case !slices.Contains(ev.found[max(0, len(ev.found)-lastFound):], o):
		ev.found = append(ev.found, o)
	}
}

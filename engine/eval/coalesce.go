package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/value"
)

// coalescer joins the patches of an evaluation as its items come about. What they are
// joined to is kept once, however many items have written it.
type coalescer struct {
	// behind is the index after the last effect that is no event; 0 when there is none.
	behind int
	// joined is that effect when others were joined to it; nil when none were.
	joined *joined
}

// joined is a patch, or the creation of an object, with others that were joined to it.
type joined struct {
	effect *Effect
	// times counts what was joined, draft is the patch when that was much.
	times int
	draft *draft
}

// fewPatches is how many patches are joined one by one: mostly there are two or three.
const fewPatches = 8

// coalescing joins the patches of an evaluation.
type coalescing struct{ ev *evaluation }

// coalesce joins adjacent patches of one object and subresource, from the first of some
// effects on. Those of some rules stay by themselves. Events between two patches keep them
// apart unless both set the same field: then the first would be undone by the second at
// every evaluation.
func (x coalescing) coalesce(first int) {
	fresh := x.ev.decision.Effects[first:]
	x.ev.decision.Effects = x.ev.decision.Effects[:first]
	for _, e := range fresh {
		if x.continues(e) {
			x.ev.written -= x.joining().add(e)
			continue
		}
		x.ev.decision.Effects = append(x.ev.decision.Effects, e)
		if e.Verb != VerbEvent {
			x.finish()
			x.ev.coalescer.behind = len(x.ev.decision.Effects)
		}
	}
	clear(fresh[len(x.ev.decision.Effects)-first:]) // others do not hold on to what was joined
}

// continues reports whether an effect is joined to the last one.
func (x coalescing) continues(e *Effect) bool {
	c := &x.ev.coalescer
	if c.behind == 0 {
		return false
	}
	last := x.ev.decision.Effects[c.behind-1]
	if !last.joins(e) || last.of(x.ev.in.Apart) != e.of(x.ev.in.Apart) {
		return false
	}
	return c.behind == len(x.ev.decision.Effects) || c.overlap(last, e)
}

// overlap reports whether two patches set the same field.
func (c *coalescer) overlap(last, e *Effect) bool {
	if c.joined != nil && c.joined.draft != nil {
		return c.joined.draft.overlaps(e.Patch)
	}
	return overlap(last.Patch, e.Patch)
}

// joining returns the last effect as one to which others are joined.
func (x coalescing) joining() *joined {
	c := &x.ev.coalescer
	if c.joined == nil {
		own := *x.ev.decision.Effects[c.behind-1]
		own.Rules, own.Conditions = slices.Clone(own.Rules), slices.Clone(own.Conditions)
		x.ev.decision.Effects[c.behind-1] = &own
		c.joined = &joined{effect: &own}
	}
	return c.joined
}

// finish ends the joining to the last effect. It is left out when the joined patch changes
// nothing any more; write has made the patches that stay alone the smallest ones already.
func (x coalescing) finish() {
	j, at := x.ev.coalescer.joined, x.ev.coalescer.behind-1
	if j == nil {
		return
	}
	x.ev.coalescer.joined = nil
	if j.draft != nil {
		j.effect.Patch = j.draft.frozen()
	}
	if j.effect.Verb == VerbCreate {
		return
	}
	_, patch := mergeDiff(j.effect.Before, j.effect.Patch, j.effect.Type)
	if j.effect.Patch, _ = patch.(*value.Map); j.effect.Patch == nil {
		x.ev.decision.Effects[at] = nil
	}
}

// coalesced ends all joining.
func (x coalescing) coalesced() {
	x.finish()
	x.ev.decision.Effects = slices.DeleteFunc(x.ev.decision.Effects, func(e *Effect) bool { return e == nil })
}

// add joins an effect. It returns how many bytes are left out of the result at least.
func (j *joined) add(e *Effect) (replaced int) {
	replaced = j.merge(e.Patch)
	j.effect.Unlocked = j.effect.Unlocked && e.Unlocked
	j.effect.Conditions = append(j.effect.Conditions, e.Conditions...)
	for _, rule := range e.Rules {
		if !slices.Contains(j.effect.Rules, rule) {
			j.effect.Rules = append(j.effect.Rules, rule)
		}
	}
	j.effect.Item, j.effect.Rule, j.effect.Replicas = e.Item, e.Rule, e.Replicas
	return replaced
}

func (j *joined) merge(patch *value.Map) (replaced int) {
	object := j.effect.Verb == VerbCreate
	if j.times++; j.times > fewPatches && j.draft == nil {
		j.draft = draftOf(j.effect.Patch, object)
	}
	if j.draft != nil {
		return j.draft.merge(patch)
	}
	before := value.Deep(j.effect.Patch) + value.Deep(patch)
	if object {
		next, _ := mergeDiff(j.effect.Patch, patch, nil)
		j.effect.Patch, _ = next.(*value.Map)
	} else {
		j.effect.Patch = mergePatches(j.effect.Patch, patch)
	}
	return before - value.Deep(j.effect.Patch)
}

// joins reports whether a patch can be part of the write before it: another patch
// of the same object, or its creation. Of two numbers that an object is scaled to the
// second counts.
func (e *Effect) joins(next *Effect) bool {
	patches := next.Verb == VerbPatch && (e.Verb == VerbPatch || e.Verb == VerbCreate)
	return (patches || next.Verb == VerbScale && e.Verb == VerbScale) && e.Target == next.Target &&
		e.Subresource == next.Subresource && e.Finally == next.Finally
}

// of reports whether an effect is of one of some rules.
func (e *Effect) of(rules []string) bool {
	return len(rules) > 0 && slices.ContainsFunc(e.Rules, func(rule string) bool { return slices.Contains(rules, rule) })
}

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

// coalesce joins adjacent patches of one object and subresource, from the first of some
// effects on. Those of some rules stay by themselves. Events between two patches keep them
// apart unless both set the same field: then the first would be undone by the second at
// every evaluation.
func (ev *evaluation) coalesce(first int) {
	fresh := ev.decision.Effects[first:]
	ev.decision.Effects = ev.decision.Effects[:first]
	for _, e := range fresh {
		if ev.continues(e) {
			ev.written -= ev.joining().add(e)
			continue
		}
		ev.decision.Effects = append(ev.decision.Effects, e)
		if e.Verb != VerbEvent {
			ev.finish()
			ev.coalescer.behind = len(ev.decision.Effects)
		}
	}
	clear(fresh[len(ev.decision.Effects)-first:]) // others do not hold on to what was joined
}

// continues reports whether an effect is joined to the last one.
func (ev *evaluation) continues(e *Effect) bool {
	c := &ev.coalescer
	if c.behind == 0 {
		return false
	}
	last := ev.decision.Effects[c.behind-1]
	if !last.joins(e) || last.of(ev.in.Apart) != e.of(ev.in.Apart) {
		return false
	}
	return c.behind == len(ev.decision.Effects) || c.overlap(last, e)
}

// overlap reports whether two patches set the same field.
func (c *coalescer) overlap(last, e *Effect) bool {
	if c.joined != nil && c.joined.draft != nil {
		return c.joined.draft.overlaps(e.Patch)
	}
	return overlap(last.Patch, e.Patch)
}

// joining returns the last effect as one to which others are joined.
func (ev *evaluation) joining() *joined {
	c := &ev.coalescer
	if c.joined == nil {
		own := *ev.decision.Effects[c.behind-1]
		own.Rules, own.Conditions = slices.Clone(own.Rules), slices.Clone(own.Conditions)
		ev.decision.Effects[c.behind-1] = &own
		c.joined = &joined{effect: &own}
	}
	return c.joined
}

// finish ends the joining to the last effect. It is left out when the joined patch changes
// nothing any more; write has made the patches that stay alone the smallest ones already.
func (ev *evaluation) finish() {
	j, at := ev.coalescer.joined, ev.coalescer.behind-1
	if j == nil {
		return
	}
	ev.coalescer.joined = nil
	if j.draft != nil {
		j.effect.Patch = j.draft.frozen()
	}
	if j.effect.Verb == VerbCreate {
		return
	}
	_, patch := mergeDiff(j.effect.Before, j.effect.Patch, ev.in.Policy.Quantities[j.effect.Target.GVK])
	if j.effect.Patch, _ = patch.(*value.Map); j.effect.Patch == nil {
		ev.decision.Effects[at] = nil
	}
}

// coalesced ends all joining.
func (ev *evaluation) coalesced() {
	ev.finish()
	ev.decision.Effects = slices.DeleteFunc(ev.decision.Effects, func(e *Effect) bool { return e == nil })
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

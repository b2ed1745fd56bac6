package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// coalescer joins the patches of an evaluation as its items come about, so that only what
// comes of all of them is written.
type coalescer struct {
	// open are the indexes of the writes to which patches are joined: those since the last
	// write whose order matters.
	open map[part]int
	// applied are the indexes of the applies. Patches of applied fields join them, whatever is
	// between: otherwise each apply would revert the patch.
	applied map[world.ID]int
	// joined are the writes to which others were joined, by their indexes.
	joined map[int]*joined
	// split is true if one part may have several writes.
	split bool
}

// part identifies the target of a patch: an object, or one of its subresources.
type part struct {
	target      world.ID
	subresource string
	// scale, finally and apart are true for writes that stay by themselves.
	scale, finally, apart bool
}

// joined is a patch, or the creation of an object, with others that were joined to it.
type joined struct {
	effect *Effect
	draft  *draft
}

// coalescing joins the patches of an evaluation.
type coalescing struct{ ev *evaluation }

// coalesce joins the patches of one object and subresource, from the first of some effects
// on, to the first of them since the last write whose order matters: a creation, an apply, a
// deletion, an eviction, an approval or a change of scale. Those of rules that are held stay
// by themselves.
func (x coalescing) coalesce(first int) {
	c := &x.ev.coalescer
	fresh := x.ev.decision.Effects[first:]
	x.ev.decision.Effects = x.ev.decision.Effects[:first]
	for _, e := range fresh {
		if at, ok := c.applied[e.Target]; ok && e.Verb == VerbPatch && e.Subresource == "" && !x.apart(e) {
			if e = x.override(at, e); e == nil {
				continue
			}
		}
		p := part{e.Target, e.Subresource, e.Verb == VerbScale, e.Finally, e.of(x.ev.in.Apart)}
		joins := (e.Verb == VerbPatch || p.scale) && !x.ev.in.Rejected.Divide(e)
		if at, ok := c.open[p]; ok && joins {
			x.ev.written -= x.joining(at).add(e)
			continue
		}
		x.begin(e, p, joins)
		x.ev.decision.Effects = append(x.ev.decision.Effects, e)
	}
	clear(fresh[len(x.ev.decision.Effects)-first:]) // others do not hold on to what was joined
}

// begin adds the next effect to those that later patches join. If its order matters, it ends
// the joining to the effects before it.
func (x coalescing) begin(e *Effect, p part, joins bool) {
	c, at := &x.ev.coalescer, len(x.ev.decision.Effects)
	if e.Verb != VerbPatch && e.Verb != VerbEvent { // the order matters
		c.split = c.split || len(c.open) > 0
		clear(c.open)
	}
	switch {
	case joins || e.Verb == VerbCreate:
		if c.open == nil {
			c.open = map[part]int{}
		}
		c.open[p], c.split = at, c.split || p.finally
	case e.Verb == VerbApply && !x.apart(e):
		if c.applied == nil {
			c.applied = map[world.ID]int{}
		}
		c.applied[e.Target] = at
	}
}

// apart reports whether an effect stays by itself.
func (x coalescing) apart(e *Effect) bool {
	return e.Finally || e.of(x.ev.in.Apart) || x.ev.in.Rejected.Divide(e)
}

// override joins a patch to the apply at an index, as far as the patch sets fields that are
// applied: the next apply would remove other fields. It returns the patch of the other fields,
// or nil if there are none.
func (x coalescing) override(at int, e *Effect) (rest *Effect) {
	inside, outside := divide(e.Patch, x.ev.decision.Effects[at].Patch)
	if inside != nil {
		own := *e
		own.Patch = inside
		x.ev.written -= x.joining(at).add(&own)
	}
	if outside == nil {
		return nil
	}
	own := *e
	own.Patch = outside
	return &own
}

// divide splits a patch into the fields that a manifest has and the others. Each part is nil
// if it has no fields.
func divide(patch, manifest *value.Map) (inside, outside *value.Map) {
	in, out := map[string]value.Value{}, map[string]value.Value{}
	for i := range patch.Len() {
		name, v := patch.At(i)
		is := manifest.Lookup(name)
		fields, isMap := v.(*value.Map)
		applied, areMaps := is.(*value.Map)
		switch {
		case isMap && areMaps:
			a, b := divide(fields, applied)
			if a != nil {
				in[name] = a
			}
			if b != nil {
				out[name] = b
			}
		case is != nil:
			in[name] = v
		default:
			out[name] = v
		}
	}
	if len(in) > 0 {
		inside = value.FromMap(in)
	}
	if len(out) > 0 {
		outside = value.FromMap(out)
	}
	return inside, outside
}

// joining returns the effect of an index as one to which others are joined.
func (x coalescing) joining(at int) *joined {
	c := &x.ev.coalescer
	if c.joined[at] == nil {
		own := *x.ev.decision.Effects[at]
		own.Rules, own.Conditions = slices.Clone(own.Rules), slices.Clone(own.Conditions)
		x.ev.decision.Effects[at] = &own
		if c.joined == nil {
			c.joined = map[int]*joined{}
		}
		c.joined[at] = &joined{&own, draftOf(own.Patch, own.Verb == VerbCreate || own.Verb == VerbApply)}
	}
	return c.joined[at]
}

// coalesced ends all joining. A write that changes nothing any more is left out; write has
// made the patches that stay alone the smallest ones already.
func (x coalescing) coalesced() {
	effects := x.ev.decision.Effects
	for at, j := range x.ev.coalescer.joined {
		if j.finish(); j.effect.Patch == nil {
			effects[at] = nil
		}
	}
	if x.ev.coalescer.split {
		x.undo()
	}
	if len(x.ev.coalescer.joined) > 0 || x.ev.coalescer.split {
		x.ev.decision.Effects = slices.DeleteFunc(effects, func(e *Effect) bool { return e == nil })
	}
}

// undo leaves out the patches of a part that together change nothing, although another
// write is between them.
func (x coalescing) undo() {
	effects, of := x.ev.decision.Effects, map[part][]int{}
	for i, e := range effects {
		if e != nil && e.Verb != VerbEvent {
			p := part{target: e.Target, subresource: e.Subresource, apart: e.of(x.ev.in.Apart)}
			of[p] = append(of[p], i)
		}
	}
	for _, all := range of {
		first := effects[all[0]]
		if len(all) == 1 || slices.ContainsFunc(all, func(at int) bool { return effects[at].Verb != VerbPatch }) {
			continue
		}
		patch := first.Patch
		for _, at := range all[1:] {
			patch = patch.Merged(effects[at].Patch)
		}
		if _, rest := mergeDiff(first.Before, patch, first.Type); rest == nil {
			for _, at := range all {
				effects[at] = nil
			}
		}
	}
}

// finish makes the patch what was joined to it. It is nil if that changes nothing.
func (j *joined) finish() {
	j.effect.Patch = j.draft.frozen()
	if j.effect.Verb == VerbCreate || j.effect.Verb == VerbApply {
		return
	}
	_, patch := mergeDiff(j.effect.Before, j.effect.Patch, j.effect.Type)
	j.effect.Patch, _ = patch.(*value.Map)
}

// add joins an effect. It returns how many bytes are left out of the result at least.
func (j *joined) add(e *Effect) (replaced int) {
	replaced = j.draft.merge(e.Patch)
	j.effect.Unlocked = j.effect.Unlocked && e.Unlocked
	j.effect.Conditions = append(j.effect.Conditions, e.Conditions...)
	for _, rule := range e.Rules {
		if !slices.Contains(j.effect.Rules, rule) {
			j.effect.Rules = append(j.effect.Rules, rule)
		}
	}
	if also := j.effect.Also; e.Item != j.effect.Item && (len(also) == 0 || also[len(also)-1] != e.Item) {
		j.effect.Also = append(also, e.Item)
	}
	j.effect.Replicas = e.Replicas
	return replaced
}

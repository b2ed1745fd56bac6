package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// objects are those that the policy reads and writes: primary objects, members of
// inputs, and those that actions name.
type objects struct {
	primary plan.Primary
	inputs  []*plan.Input
	targets []*plan.Target
}

// addInput returns the root of the objects of another input.
func (o *objects) addInput(in *plan.Input) analyze.Root {
	o.inputs = append(o.inputs, in)
	return analyze.Root{Kind: analyze.Input, Index: len(o.inputs) - 1}
}

// target returns the root of the objects of a kind at a place, which is known as
// far as it goes.
func (o *objects) target(gvk schema.GVK, at analyze.Scope) analyze.Root {
	from, narrow := o.source(gvk, at)
	i := slices.IndexFunc(o.targets, func(t *plan.Target) bool { return t.Source == from && t.Narrow == narrow })
	if i < 0 {
		i = len(o.targets)
		o.targets = append(o.targets, &plan.Target{Source: from, Narrow: narrow})
	}
	return targetRoot(i)
}

// others returns the root of the primary objects other than that of the key, and what
// tells that one exists.
func (o *objects) others() (analyze.Root, *value.Mask) {
	mask := baseMask
	if o.primary.Follows { // one that leaves the selector is still in the source
		mask = value.Merge(mask, under([]string{"metadata", "labels"}, value.KeepAll))
	}
	i := slices.IndexFunc(o.targets, func(t *plan.Target) bool { return t.Source == o.primary.Source })
	if i < 0 {
		i = len(o.targets)
		o.targets = append(o.targets, &plan.Target{Source: o.primary.Source, Narrow: analyze.Scope{Namespace: o.primary.Within}})
	}
	return targetRoot(i), mask
}

// kind returns the kind of the objects of a root.
func (o *objects) kind(root analyze.Root) schema.GVK {
	switch root.Kind {
	case analyze.Primary:
		return o.primary.GVK
	case analyze.Input:
		return o.inputs[root.Index].Source.GVK
	default:
		return o.targets[root.Index].Source.GVK
	}
}

// off reports whether a root is an input that is switched off.
func (o *objects) off(root analyze.Root) bool {
	return root.Kind == analyze.Input && o.inputs[root.Index].Off
}

// place returns where the objects of a root are; named is what is known of an
// object that an action names.
func (o *objects) place(root analyze.Root, named analyze.Scope) analyze.Scope {
	switch root.Kind {
	case analyze.Primary:
		return analyze.Scope{Namespace: o.primary.Within}
	case analyze.Input:
		return o.inputs[root.Index].Scope()
	default:
		return named
	}
}

// source returns the source of the objects of a kind at a place. What the policy
// watches anyhow is not watched twice.
func (o *objects) source(gvk schema.GVK, at analyze.Scope) (world.Source, analyze.Scope) {
	all := world.Source{GVK: gvk}
	for _, in := range o.inputs {
		if in.Source == all && !in.Off && in.Named == (analyze.Scope{}) {
			return all, analyze.Scope{}
		}
	}
	if o.primary.Source == all {
		return all, analyze.Scope{}
	}
	return world.Source{GVK: gvk, Namespace: at.Namespace.Value, Name: at.Name.Value}, at
}

func targetRoot(i int) analyze.Root { return analyze.Root{Kind: analyze.Target, Index: i} }

// baseMask is kept of every object: its deletion is part of every decision.
var baseMask = under([]string{"metadata", "deletionTimestamp"}, &value.Mask{})

// under is a mask below a path of fields.
func under(path []string, mask *value.Mask) *value.Mask {
	for _, name := range slices.Backward(path) {
		mask = &value.Mask{Fields: map[string]*value.Mask{name: mask}}
	}
	return mask
}

package readmodel

import (
	"context"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Requirement is a source that a policy reads, the fields of its objects that are
// read, and the indexes for its joins.
type Requirement struct {
	Source  world.Source
	Mask    *value.Mask
	Indexes map[string]world.IndexFunc
}

// Requirements returns what a policy needs of its sources, each once.
func Requirements(p *plan.Policy) []Requirement {
	var out []Requirement
	add := func(source world.Source, mask *value.Mask) *Requirement {
		for i := range out {
			if out[i].Source == source {
				out[i].Mask = value.Merge(out[i].Mask, mask)
				return &out[i]
			}
		}
		out = append(out, Requirement{Source: source, Mask: mask, Indexes: map[string]world.IndexFunc{}})
		return &out[len(out)-1]
	}
	add(p.Primary.Source, p.ObjectReads)
	for _, in := range p.Inputs {
		if in.Off {
			continue
		}
		r := add(in.Source, in.Reads)
		if in.Index != "" {
			r.Indexes[in.Index] = indexFunc(p, in)
		}
	}
	for _, t := range p.Targets {
		add(t.Source, t.Reads)
	}
	for i := range out {
		out[i].Mask = value.Merge(out[i].Mask, identity(p, out[i].Source))
	}
	for _, w := range p.Writes {
		alike(out, w.GVK)
	}
	return out
}

// alike keeps the same fields of the objects of a kind, whichever source they come
// from: a write is compared with any of them.
func alike(all []Requirement, gvk schema.GVK) {
	var mask *value.Mask
	for _, n := range all {
		if n.Source.GVK == gvk {
			mask = value.Merge(mask, n.Mask)
		}
	}
	for i := range all {
		if all[i].Source.GVK == gvk {
			all[i].Mask = mask
		}
	}
}

// identity keeps the name of an object, and what the selector of the primary kind
// reads.
func identity(p *plan.Policy, source world.Source) *value.Mask {
	leaf := &value.Mask{}
	fields := map[string]*value.Mask{"name": leaf, "namespace": leaf}
	if source == p.Primary.Source && p.Primary.Selector.String() != "" {
		fields["labels"] = value.KeepAll
	}
	return &value.Mask{Fields: map[string]*value.Mask{"apiVersion": leaf, "kind": leaf, "metadata": {Fields: fields}}}
}

func indexFunc(p *plan.Policy, in *plan.Input) world.IndexFunc {
	return func(o *world.Object) []string {
		meter := expr.NewMeter(context.Background())
		defer meter.Close()
		return eval.IndexKeys(p, in, o, meter)
	}
}

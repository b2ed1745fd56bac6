package reconcile

import (
	"context"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Need is a source that a policy reads, the parts of its objects that are
// read, and the indexes for its joins.
type Need struct {
	Source  world.Source
	Mask    *value.Mask
	Indexes map[string]world.IndexFunc
}

// Needs returns the sources of a policy, each once.
func Needs(p *plan.Policy) []Need {
	var out []Need
	add := func(source world.Source, mask *value.Mask) *Need {
		for i := range out {
			if out[i].Source == source {
				out[i].Mask = value.Merge(out[i].Mask, mask)
				return &out[i]
			}
		}
		out = append(out, Need{Source: source, Mask: mask, Indexes: map[string]world.IndexFunc{}})
		return &out[len(out)-1]
	}
	add(p.Primary.Source, p.ObjectReads)
	for _, in := range p.Inputs {
		if in.Off {
			continue
		}
		need := add(in.Source, in.Reads)
		if in.Index != "" {
			need.Indexes[in.Index] = indexFunc(p, in)
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

// alike has the same parts kept of the objects of a kind, whichever source they
// come from: what is written is compared with any of them.
func alike(needs []Need, gvk schema.GVK) {
	var mask *value.Mask
	for _, n := range needs {
		if n.Source.GVK == gvk {
			mask = value.Merge(mask, n.Mask)
		}
	}
	for i := range needs {
		if needs[i].Source.GVK == gvk {
			needs[i].Mask = mask
		}
	}
}

// identity keeps what names an object, and what the primary's selector reads.
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

// Sources returns the sources that the policy reads.
func (c *Controller) Sources() []world.Source {
	out := make([]world.Source, len(c.needs))
	for i, n := range c.needs {
		out[i] = n.Source
	}
	return out
}

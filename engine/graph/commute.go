package graph

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Commute reports whether decisions of two policies about different keys come to the
// same in either order: nothing that one writes is read or written by the other. Both
// may be the same policy.
func Commute(a, b *plan.Policy) bool { return leaves(a, b) && leaves(b, a) }

// leaves reports whether a policy leaves alone what another one reads or writes.
func leaves(a, b *plan.Policy) bool {
	return !slices.ContainsFunc(Writes(a), func(w Write) bool { return w.opaque() || readsOf(b, w, a == b) || writesOf(b, w, a == b) })
}

// opaque reports whether a write may do more than change the fields that it names:
// make objects, delete them, or let them go.
func (w *Write) opaque() bool {
	_, made := w.Action.(*plan.Child)
	if made || !w.Own && w.Named == nil && w.GVK == (schema.GVK{}) {
		return true
	}
	return slices.ContainsFunc(w.Fields, func(f string) bool {
		return f == Creates || f == Deletes || f == Computed || f == "metadata.finalizers"
	})
}

// readsOf reports whether a policy reads what is written; of its own writes to the
// primary object only what other keys read of it.
func readsOf(p *plan.Policy, w Write, same bool) bool {
	for _, r := range reads(p) {
		if r.GVK != w.GVK || same && w.Own && r.own {
			continue
		}
		if len(changes(&w, r.mask)) > 0 {
			return true
		}
	}
	// What selects objects is not among what is read of them.
	return touches(w, "metadata.labels") && watched(p, w.GVK)
}

// watched reports whether a policy reads objects of a kind by their labels.
func watched(p *plan.Policy, kind schema.GVK) bool {
	return p.Primary.GVK == kind && p.Primary.Selector != nil || slices.ContainsFunc(p.Inputs, func(in *plan.Input) bool { return in.Source.GVK == kind && in.Source.Selector != "" })
}

func touches(w Write, field string) bool {
	return slices.ContainsFunc(w.Fields, func(f string) bool { return overlap(f, field) })
}

// overlap reports whether one path is the other, or leads to it.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func writesOf(p *plan.Policy, w Write, same bool) bool {
	for _, other := range Writes(p) {
		if other.GVK != w.GVK || same && w.Own && other.Own {
			continue
		}
		for _, f := range other.Fields {
			if touches(w, f) {
				return true
			}
		}
	}
	return false
}

// Reads returns what decides in a policy, by kind: without what is only compared with
// what is written.
func Reads(p *plan.Policy) map[schema.GVK]*value.Mask {
	out := map[schema.GVK]*value.Mask{}
	for _, r := range reads(p) {
		if !r.named {
			out[r.GVK] = value.Merge(out[r.GVK], r.mask)
		}
	}
	return out
}

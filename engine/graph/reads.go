package graph

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// read is what a policy reads of the objects of a kind.
type read struct {
	schema.GVK
	mask *value.Mask
	// own says that it is the primary object.
	own bool
	// at says which objects are read.
	at analyze.Scope
	// named says that actions name the objects: they are read to compare them.
	named bool
}

// reads returns all that a policy reads.
func reads(p *plan.Policy) []read {
	out := []read{{GVK: p.Primary.GVK, mask: p.ObjectReads, own: true, at: analyze.Scope{Namespace: p.Primary.Within}}}
	for _, in := range p.Inputs {
		if !in.Off {
			out = append(out, read{GVK: in.Source.GVK, mask: in.Reads, at: placeOf(in)})
		}
	}
	for _, t := range p.Targets {
		out = append(out, read{GVK: t.Source.GVK, mask: t.Reads, at: t.Narrow, named: true})
	}
	return out
}

// placeOf returns where the objects of an input are, also if only the name is constant of the
// one that it gets.
func placeOf(in *plan.Input) analyze.Scope {
	at := in.Narrow
	if at.Name.Value != "" || in.Get == nil || in.Get.Tree().Expr().Kind() != ast.MapKind {
		return at
	}
	for _, e := range in.Get.Tree().Expr().AsMap().Entries() {
		if key, _ := cel.LiteralString(e.AsMapEntry().Key()); key == "name" {
			at.Name.Value, _ = cel.LiteralString(e.AsMapEntry().Value())
		}
	}
	return at
}

// decides returns what decides about the actions of a rule, and about what they
// write: without what is only compared with what is written.
func decides(p *plan.Policy, r *plan.Rule) (out []read) {
	seen := map[*analyze.Node]bool{}
	r.Node.Reach(seen)
	sum := analyze.Reads{}
	for n := range seen {
		sum.Merge(n.Reads)
	}
	if mask := sum[analyze.Object]; mask != nil {
		out = append(out, read{GVK: p.Primary.GVK, mask: mask, own: true, at: analyze.Scope{Namespace: p.Primary.Within}})
	}
	for i, in := range p.Inputs {
		if mask := sum[analyze.Root{Kind: analyze.Input, Index: i}]; mask != nil && !in.Off {
			out = append(out, read{GVK: in.Source.GVK, mask: mask, at: placeOf(in)})
		}
	}
	return out
}

// Definite reports whether a field is one that is written out, and not a map whose keys
// are computed.
func Definite(field string) bool {
	return field != Creates && field != Deletes && field != Computed && !slices.ContainsFunc([]string{"metadata.labels", "metadata.annotations", "metadata.finalizers"}, func(open string) bool {
		return strings.HasSuffix(field, open)
	})
}

// names reports whether a mask names exactly a field that is written: it does not have
// it because it has all that is there, or only parts of it.
func names(m *value.Mask, field string) bool {
	if !Definite(field) {
		return false
	}
	for name := range strings.SplitSeq(field, ".") {
		if m == nil || m.Fields[name] == nil {
			return false
		}
		m = m.Fields[name]
	}
	return len(m.Fields) == 0
}

// sees reports whether a mask has a field that is written.
func sees(m *value.Mask, field string) bool {
	if m == nil {
		return false
	}
	if field == Creates || field == Deletes || field == Computed {
		return true
	}
	for name := range strings.SplitSeq(field, ".") {
		switch {
		case m.All:
			return true
		case m.Fields[name] != nil:
			m = m.Fields[name]
		case m.Each != nil:
			m = m.Each
		default:
			return false
		}
	}
	return true
}

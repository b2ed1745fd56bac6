package check

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
)

// dividedWrites finds writes of objects that several primary objects may write, if the
// installation decides about some of the primary objects only: another installation may
// write the same object for another one.
func dividedWrites(p *policy) {
	s := p.bundle.WatchSelector
	if s == nil || s == selector.Everything || p.plan.Mode == plan.Shadow {
		return
	}
	seen := map[schema.GVK]bool{}
	for _, w := range graph.Writes(p.plan) {
		if seen[w.GVK] || !p.common(&w) {
			continue
		}
		seen[w.GVK] = true
		p.report(document.DividedWrite, w.Rule.Pos, "give all primary objects that write one object the same value of the label",
			fmt.Sprintf("the rule %q writes a %s that several primary objects may write, and with --watch-label-selector %s only some of them are decided about here", w.Rule.Name, w.Kind, s))
	}
}

// common reports whether several primary objects may write the object of a write.
func (p *policy) common(w *graph.Write) bool {
	if w.Own || w.Rule.Prunes || w.Naming.Depends() {
		return false
	}
	child, makes := w.Action.(*plan.Child)
	switch {
	case !makes:
		return w.Named != nil || !p.apart(w.GVK)
	case child.Kept:
		return false // one primary object has a child of a name, or it is an error
	}
	metadata := child.Manifest.Field("metadata")
	if metadata.Field("name") == nil {
		return false
	}
	sharing, _ := p.sharing(w.Rule, metadata.Field("namespace"), metadata.Field("name"))
	return sharing != ""
}

// apart reports whether each object of a kind is an item of the policy's inputs for one
// primary object only: by a field that is compared with the key, or by the uid.
func (p *policy) apart(kind schema.GVK) bool {
	found := false
	for _, in := range p.plan.Inputs {
		if in.Source.GVK != kind || in.Off {
			continue
		}
		if found = p.ofOne(in.Get, in.Where); !found {
			return false
		}
	}
	return found
}

// ofOne reports whether an input, by the program that gives its name or the one that judges
// its items, has other items for each primary object.
func (p *policy) ofOne(get, where *cel.Program) bool {
	d := &dependencies{policy: p, counts: byName}
	if get != nil {
		return d.part(get, get.Tree().Expr())
	}
	return where != nil && slices.ContainsFunc(analyze.Anded(where.Tree().Expr()), func(e ast.Expr) bool {
		a, b, how := sides(e)
		return how == operators.Equals && (d.part(where, a) || d.part(where, b)) || comparesUID(where, e)
	})
}

// comparesUID reports whether an expression compares something with the uid of the primary
// object, as owner references are.
func comparesUID(program *cel.Program, e ast.Expr) (found bool) {
	each(e, func(e ast.Expr) {
		a, b, how := sides(e)
		found = found || how == operators.Equals && (field(program, a, "metadata", "uid") || field(program, b, "metadata", "uid"))
	})
	return found
}

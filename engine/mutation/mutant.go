package mutation

import (
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
)

// Mutant is a policy with one change.
type Mutant struct {
	Policy string `json:"policy"`
	document.Position
	// Change says what was changed.
	Change string `json:"change"`
	edit   edit
}

// edit changes a part of a document: the part becomes another, or is left out.
type edit struct {
	part, by *document.Node
}

// Of returns the mutants of a policy in the order of its text.
func Of(doc *v1alpha1.Policy, p *plan.Policy) []Mutant {
	m := &maker{policy: p.Written()}
	p.EachProgram(m.expression)
	m.rules(doc.Node.Get("spec"))
	slices.SortStableFunc(m.list, func(a, b Mutant) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return m.list
}

// Apply returns the policy with the change; nil when it cannot be read any more.
func (m *Mutant) Apply(doc *v1alpha1.Policy) *v1alpha1.Policy {
	var problems document.Problems
	list := load.Items[v1alpha1.Policy]([]*document.Node{edited(doc.Node, m.edit)}, "the document", &problems)
	if problems.HasErrors() {
		return nil
	}
	list[0].Of = doc.Of
	return &list[0]
}

// edited returns a copy of a part with the edit in it; parts without it are shared.
func edited(n *document.Node, e edit) *document.Node {
	if n == e.part {
		return e.by
	}
	for i, v := range n.Values {
		now := edited(v, e)
		if now == v {
			continue
		}
		out := *n
		out.Keys, out.Values = slices.Clone(n.Keys), slices.Clone(n.Values)
		if out.Values[i] = now; now == nil {
			out.Values = slices.Delete(out.Values, i, i+1)
			if n.Kind == document.Map {
				out.Keys = slices.Delete(out.Keys, i, i+1)
			}
		}
		return &out
	}
	return n
}

// maker collects the mutants of a policy.
type maker struct {
	policy string
	seen   map[seen]bool
	list   []Mutant
}

func (m *maker) add(at document.Position, change string, part, by *document.Node) {
	m.list = append(m.list, Mutant{Policy: m.policy, Position: at, Change: change, edit: edit{part, by}})
}

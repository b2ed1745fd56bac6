package children

import (
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// Parts are what the children of a policy come to: items of the sections of its
// spec, as an author would write them. Those of rules come before the policy's own.
type Parts struct {
	Inputs, Variables, Rules []*document.Node
	// Sets are the sets of the rules after those that Held counts.
	Sets []string
	// Summary are the rules that come after these.
	Summary []*document.Node
	// Held is the number of rules, at the beginning of Rules, that hold the primary
	// object with a finalizer until nothing is left of its children.
	Held int
	// Prune is the number of rules, at the end of Rules, that delete what is no
	// longer wanted. They are evaluated for keys without a primary object, too.
	Prune int
	// Former is the number of these, at their end, that delete what only a former text
	// of the policy had.
	Former int
}

// Namespaced reports whether the objects of a kind have namespaces, as far as it is
// known.
type Namespaced func(apiVersion, kind string) (namespaced, known bool)

// Problems takes what is wrong with the children.
type Problems interface {
	Hintf(at document.Position, hint, format string, args ...any)
}

// Expand derives the parts from the children of a policy. Children that are wrong
// are reported and left out.
func Expand(p *v1alpha1.Policy, namespaced Namespaced, problems Problems) Parts {
	of := &expansion{policy: p, namespaced: namespaced, problems: problems}
	sets := of.sorted(of.sets())
	if len(sets) == 0 {
		return Parts{}
	}
	var out Parts
	out.Variables = append(out.Variables, of.released())
	for _, s := range sets {
		out.Inputs = append(out.Inputs, s.input())
		out.Variables = append(out.Variables, s.wanted(), s.failed())
		if len(s.dependents) > 0 || s.doc.Ready.Set() || s.doc.CreateBeforeDelete || p.Spec.Summary != nil {
			out.Variables = append(out.Variables, s.ready())
		}
		out.Rules, out.Sets = append(out.Rules, s.applied()), append(out.Sets, s.name)
	}
	for _, s := range slices.Backward(sets) {
		out.Rules, out.Sets = append(out.Rules, s.pruned()), append(out.Sets, s.name)
	}
	unlisted := of.unlisted(sets)
	if of.holds(sets) {
		held := of.hold(sets, unlisted)
		out.Held, out.Rules = len(held), append(held, out.Rules...)
	}
	for i, u := range unlisted {
		out.Inputs = append(out.Inputs, u.input(i))
		out.Rules, out.Sets = append(out.Rules, u.pruned(i)), append(out.Sets, u.name(i))
	}
	out.Prune, out.Former = len(sets)+len(unlisted), len(unlisted)
	out.Summary = of.summary(sets)
	return out
}

// expansion derives the parts of one policy.
type expansion struct {
	policy     *v1alpha1.Policy
	namespaced Namespaced
	problems   Problems
}

// sets returns the children that can be told apart, in the order of the document.
func (e *expansion) sets() (out []*set) {
	for i := range e.policy.Spec.Children {
		doc := &e.policy.Spec.Children[i]
		s := &set{expansion: e, doc: doc, name: doc.Name.Value}
		if s.valid() {
			out = append(out, s)
		}
	}
	return out
}

// cluster reports whether the primary objects are known to have no namespace.
func (e *expansion) cluster() bool {
	namespaced, known := e.namespaced(e.policy.Spec.For.APIVersion.Value, e.policy.Spec.For.Kind.Value)
	return known && !namespaced
}

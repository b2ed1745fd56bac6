package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

// withUnions returns a policy in which an input of several kinds is one input for each
// kind, and a variable of the input's name that has the objects of all.
func withUnions(doc *v1alpha1.Policy, problems *findings) *v1alpha1.Policy {
	u := unions{problems: problems, all: doc.Spec.Inputs, nodes: doc.Node.Get("spec").Get("inputs").Items()}
	for i := range doc.Spec.Inputs {
		u.input(i, &doc.Spec.Inputs[i])
	}
	if len(u.variables) == 0 {
		return doc
	}
	out := *doc
	variables := load.Items[v1alpha1.Variable](u.variables, "inputs", &problems.Problems)
	for i := range variables {
		variables[i].Union = true
	}
	out.Spec.Inputs, out.Spec.Variables = u.inputs, slices.Concat(variables, doc.Spec.Variables)
	spec := doc.Node.Get("spec")
	items := slices.Concat(u.variables, spec.Get("variables").Items())
	spec = spec.With("inputs", document.NewList(spec.Pos, u.parts...))
	out.Node = doc.Node.With("spec", spec.With("variables", document.NewList(spec.Pos, items...)))
	return &out
}

// unions gathers the inputs of a policy, with their nodes, and the variables of those
// of several kinds.
type unions struct {
	problems  *findings
	all       []v1alpha1.Input
	nodes     []*document.Node
	inputs    []v1alpha1.Input
	parts     []*document.Node
	variables []*document.Node
}

// input adds an input, or the parts of one of several kinds.
func (u *unions) input(i int, in *v1alpha1.Input) {
	if len(in.Kinds) == 0 || !rightKinds(in, u.problems) || !u.named(in.Name) {
		u.inputs, u.parts = append(u.inputs, *in), append(u.parts, u.nodes[i])
		return
	}
	names := partNames(in)
	for k, kind := range in.Kinds {
		node := only(u.nodes[i], "when", "selector", "namespace", "within", "where").
			With("name", document.NewText(in.Name.Pos(), names[k])).
			With("apiVersion", kind.APIVersion.Node).With("kind", kind.Kind.Node)
		part := load.Items[v1alpha1.Input]([]*document.Node{node}, "inputs", &u.problems.Problems)[0]
		part.Pos, part.Kinds, part.Of = in.Pos, in.Kinds, in.Name.Value
		u.inputs, u.parts = append(u.inputs, part), append(u.parts, node)
	}
	u.variables = append(u.variables, union(u.nodes[i], in, names))
}

// named reports whether an input has a name of its own.
func (u *unions) named(name v1alpha1.Text) bool {
	seen := map[string]bool{}
	for i := range u.all {
		if other := &u.all[i]; other.Name.Node != name.Node {
			seen[other.Name.Value] = true
		}
	}
	return identifier(name, "input", seen, name.Pos(), u.problems)
}

// union is the variable that has the objects of all parts: the list of theirs, or a
// collection of it where they have a key or an order.
func union(node *document.Node, in *v1alpha1.Input, parts []string) *document.Node {
	at := in.Name.Pos()
	text := func(s string) *document.Node {
		return &document.Node{Kind: document.String, Text: s, Quoted: true, Pos: at}
	}
	refs := make([]string, len(parts))
	for i, name := range parts {
		refs[i] = analyze.InputRef(name).String()
	}
	out, field := only(node, "keyBy", "groupBy", "orderBy"), "expression"
	if len(out.Keys) > 0 {
		field = "forEach"
	}
	return out.With("name", text(unionName(in.Name.Value))).With(field, text(strings.Join(refs, " + ")))
}

// unionName is the name of the variable that is an input of several kinds: with what
// names of inputs begin with, so that it is no name of another variable.
func unionName(input string) string { return analyze.InputRef(input).String() }

// partNames are the names of the parts: that of the input, and the kind.
func partNames(in *v1alpha1.Input) []string {
	out := make([]string, len(in.Kinds))
	for i, kind := range in.Kinds {
		out[i] = in.Name.Value + "." + kind.Kind.Value
		if slices.Contains(out[:i], out[i]) { // of another group
			out[i] += fmt.Sprint(i + 1)
		}
	}
	return out
}

// only returns a mapping with some of the fields.
func only(n *document.Node, fields ...string) *document.Node {
	out := &document.Node{Kind: document.Map, Pos: n.Pos}
	for i, key := range n.Keys {
		if slices.Contains(fields, key.Text) {
			out.Keys, out.Values = append(out.Keys, key), append(out.Values, n.Values[i])
		}
	}
	return out
}

// rightKinds rejects kinds that make no list.
func rightKinds(in *v1alpha1.Input, problems *findings) bool {
	before := len(problems.List())
	switch {
	case in.APIVersion.Set() || in.Kind.Set():
		problems.Hintf(firstSet(in.APIVersion, in.Kind).Pos(), "leave out apiVersion and kind", "the input %q has kinds, and a kind", in.Name.Value)
	case in.KeyBy.Set() && in.GroupBy.Set():
		keyAndGroup(in, problems)
	case in.Get.Set():
		problems.Hintf(in.Get.Pos(), "an input of one kind: apiVersion and kind instead of kinds", "the input %q has get, which returns one object of one kind", in.Name.Value)
	case len(in.Kinds) > load.MaxKinds:
		problems.Hintf(in.Pos, "write another input for the others", "the input %q has %d kinds, at most %d are allowed", in.Name.Value, len(in.Kinds), load.MaxKinds)
		return false
	case len(in.Kinds) < 2:
		problems.Hintf(in.Pos, "kinds: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}], or apiVersion and kind for one", "the kinds of the input %q are fewer than two", in.Name.Value)
	}
	for i, kind := range in.Kinds {
		same := func(other v1alpha1.ObjectKind) bool {
			return other.APIVersion.Value == kind.APIVersion.Value && other.Kind.Value == kind.Kind.Value
		}
		switch {
		case !kind.APIVersion.Set() || !kind.Kind.Set():
			problems.Hintf(kind.Pos, "such as {apiVersion: v1, kind: ConfigMap}", "a kind of the input %q needs apiVersion and kind", in.Name.Value)
		case slices.ContainsFunc(in.Kinds[:i], same):
			problems.Hintf(kind.Pos, "leave it out", "the input %q has the kind %s twice", in.Name.Value, kind.Kind.Value)
		}
	}
	return len(problems.List()) == before
}

package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// order compiles the variables of a policy, each after those that it uses: depth
// first.
type order struct {
	names    *names
	forms    *variables
	docs     map[string]*v1alpha1.Variable
	state    map[string]progress
	compiled []*plan.Variable
	problems *findings
}

// progress says how far a variable is.
type progress int

const (
	untouched progress = iota
	underWay
	done
	// circular is a variable that uses itself.
	circular
)

// policyVariables compiles the variables of a policy. Their order in the document
// does not matter. ok is false when there are too many.
func policyVariables(docs []v1alpha1.Variable, n *names, forms *variables, problems *findings) (list []*plan.Variable, ok bool) {
	o := order{names: n, forms: forms, docs: map[string]*v1alpha1.Variable{}, state: map[string]progress{}, problems: problems}
	seen := map[string]bool{}
	if tooMany(docs, problems) {
		return nil, false
	}
	for i := range docs {
		if v := &docs[i]; v.Union || identifier(v.Name, "variable", seen, v.Pos, problems) {
			o.docs[v.Name.Value] = v
		} else if own[v.Name.Value] {
			n.declare(declared{Ref: analyze.VariableRef(v.Name.Value), of: cel.DynType}) // its users are right
		}
	}
	n.env = n.env.WithLater(refs(docs))
	for i := range docs {
		if v := &docs[i]; o.docs[v.Name.Value] == v {
			o.visit(v, nil)
		}
	}
	return o.compiled, true
}

// refs are the variables as expressions name them.
func refs(docs []v1alpha1.Variable) []string {
	out := make([]string, len(docs))
	for i := range docs {
		out[i] = analyze.VariableRef(docs[i].Name.Value).String()
	}
	return out
}

func (o *order) visit(v *v1alpha1.Variable, path []string) {
	name := v.Name.Value
	switch o.state[name] {
	case underWay:
		o.problems.Errorf(v.Name.Pos(), "the variable %q uses itself: %s", name, strings.Join(append(path, name), " -> "))
		o.names.declare(declared{Ref: analyze.VariableRef(name), of: cel.DynType}) // the circle is what is wrong, not its name
		o.state[name] = circular
		return
	case done, circular:
		return
	}
	o.state[name] = underWay
	for _, other := range mentions(v, o.names.env) {
		if next, ok := o.docs[other]; ok {
			o.visit(next, append(path, name))
		}
	}
	if o.state[name] == circular {
		return
	}
	o.state[name] = done
	o.compile(v)
}

// compile compiles a variable and declares its name.
func (o *order) compile(doc *v1alpha1.Variable) {
	o.problems.enter(doc.Pos)
	d := declared{Ref: analyze.VariableRef(doc.Name.Value), of: cel.DynType, node: analyze.New(analyze.Variable, doc.Name.Value, doc.Pos)}
	if v := o.forms.compile(newScope(o.names, d.node), doc); v != nil {
		d.of, d.flow, d.form = v.of, v.flow, v.form
		o.names.know(d, plan.Slot{Kind: plan.VariableSlot, Index: len(o.compiled)})
		o.compiled = append(o.compiled, v.plan)
	}
	o.names.declare(d) // also a wrong one, so that its users are still checked
}

// mentions returns the variables that a variable's expressions name.
func mentions(v *v1alpha1.Variable, env *cel.Env) (out []string) {
	for _, t := range append([]v1alpha1.Text{v.Expression, v.When, v.ForEach, v.KeyBy, v.GroupBy}, v.OrderBy...) {
		if t.Set() {
			out = append(out, env.Mentions(t.Value, cel.QualifyVariables)...)
		}
	}
	templates := []*document.Node{v.Value.Node}
	if v.Rego != nil {
		templates = append(templates, v.Rego.Input.Node)
	}
	for _, n := range templates {
		out = append(out, env.TemplateMentions(n, cel.QualifyVariables)...)
	}
	for i := range v.Variables {
		out = append(out, mentions(&v.Variables[i], env)...)
	}
	return out
}

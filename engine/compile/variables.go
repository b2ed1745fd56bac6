package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// variables compiles the variables, each after those that it uses. Their order
// in the document does not matter. It reports whether there were not too many.
func (b *builder) variables() bool {
	o := order{b: b, docs: map[string]*v1alpha1.Variable{}, state: map[string]int{}}
	seen := map[string]bool{}
	if b.tooMany(b.doc.Spec.Variables) {
		return false
	}
	for i := range b.doc.Spec.Variables {
		v := &b.doc.Spec.Variables[i]
		if b.identifier(v.Name, "variable", seen, v.Pos) {
			o.docs[v.Name.Value] = v
		}
	}
	for i := range b.doc.Spec.Variables {
		if v := &b.doc.Spec.Variables[i]; o.docs[v.Name.Value] == v {
			o.visit(v, nil)
		}
	}
	return true
}

// tooMany refuses more variables than there may be: each is compiled against
// all that stand before it.
func (b *builder) tooMany(docs []v1alpha1.Variable) bool {
	if len(docs) <= MaxVariables {
		return false
	}
	b.problems.Errorf(docs[MaxVariables].Pos, "there are %d variables, at most %d are allowed", len(docs), MaxVariables)
	return true
}

// order compiles variables depth first.
type order struct {
	b     *builder
	docs  map[string]*v1alpha1.Variable
	state map[string]int // 1 under way, 2 done, 3 in a circle
}

func (o *order) visit(v *v1alpha1.Variable, path []string) {
	name := v.Name.Value
	switch o.state[name] {
	case 1:
		o.b.problems.Errorf(v.Name.Pos(), "the variable %q uses itself: %s", name, strings.Join(append(path, name), " -> "))
		o.b.extend(cel.Var{Name: "variables." + name, Type: cel.DynType}) // the circle is what is wrong, not its name
		o.state[name] = 3
		return
	case 2, 3:
		return
	}
	o.state[name] = 1
	for _, other := range o.b.mentions(v) {
		if next, ok := o.docs[other]; ok {
			o.visit(next, append(path, name))
		}
	}
	if o.state[name] == 3 {
		return
	}
	o.state[name] = 2
	o.b.variable(v)
}

// mentions returns the variables that a variable's expressions name.
func (b *builder) mentions(v *v1alpha1.Variable) (out []string) {
	for _, t := range append([]v1alpha1.Text{v.Expression, v.When, v.ForEach, v.KeyBy, v.GroupBy}, v.OrderBy...) {
		if t.Set() {
			out = append(out, b.env.Mentions(t.Value, "variables")...)
		}
	}
	out = append(out, b.env.TemplateMentions(v.Value.Node, "variables")...)
	if v.Rego != nil {
		out = append(out, b.env.TemplateMentions(v.Rego.Input.Node, "variables")...)
	}
	for i := range v.Variables {
		out = append(out, b.mentions(&v.Variables[i])...)
	}
	return out
}

// variable compiles a variable of the policy and declares its name.
func (b *builder) variable(v *v1alpha1.Variable) {
	b.compiling = v.Pos
	name := "variables." + v.Name.Value
	n := b.graph().Part(analyze.Variable, v.Name.Value, v.Pos)
	b.nodes[name] = n
	compiled, t, flow := b.compileVariable(b.global(n), v)
	if compiled == nil {
		b.extend(cel.Var{Name: name, Type: cel.DynType}) // so that its users are still checked
		return
	}
	b.flows[name] = flow
	b.plan.Slots[name] = plan.Slot{Kind: plan.VariableSlot, Index: len(b.plan.Variables)}
	b.plan.Variables = append(b.plan.Variables, compiled)
	b.extend(cel.Var{Name: name, Type: t})
}

// locals compiles the variables of a rule or a collection, in their order, and
// returns the scope that knows them. Each is a part of the scope's node.
func (b *builder) locals(s *scope, docs []v1alpha1.Variable) ([]*plan.Variable, *scope) {
	var out []*plan.Variable
	seen := map[string]bool{}
	if b.tooMany(docs) {
		return nil, s
	}
	for i := range docs {
		v := &docs[i]
		if !b.identifier(v.Name, "variable", seen, v.Pos) {
			continue
		}
		own := s.part(analyze.Local, v.Name.Value, v.Pos)
		compiled, t, flow := b.compileVariable(own, v)
		if compiled == nil {
			s = s.withNode(b, own.node, cel.DynType, nil)
			continue
		}
		out = append(out, compiled)
		s = s.withNode(b, own.node, t, flow)
	}
	return out, s
}

// compileVariable compiles any form of variable. Its node is the scope's.
func (b *builder) compileVariable(s *scope, v *v1alpha1.Variable) (*plan.Variable, *cel.Type, *analyze.Flow) {
	out, t, flow := b.variableForm(s, v, &plan.Variable{Name: v.Name.Value, Pos: v.Pos, Node: s.node})
	if out != nil {
		out.ObjectMask = s.node.ObjectMask()
	}
	return out, t, flow
}

func (b *builder) variableForm(s *scope, v *v1alpha1.Variable, out *plan.Variable) (*plan.Variable, *cel.Type, *analyze.Flow) {
	switch {
	case v.Rego != nil:
		return b.rego(s, v, out)
	case v.ForEach.Set():
		return b.collection(s, v, out)
	case v.Expression.Set():
		p, flow := b.alias(s, v.Expression)
		if p == nil {
			return nil, nil, nil
		}
		out.Program = p
		s.node.HandsOn.Consume(flow)
		return out, p.Type(), flow
	case v.Value.Set():
		out.When = b.program(s, v.When)
		b.wantType(out.When, v.When, cel.BoolType)
		out.Value = b.template(s, v.Value)
		return out, templateType(v.Value, out.Value, out.When != nil), nil
	default:
		b.problems.Hintf(v.Pos, "expression, value, forEach or rego", "variable %q needs one of expression, value, forEach and rego", v.Name.Value)
		return nil, nil, nil
	}
}

// templateType is what is known of a template's value.
func templateType(t v1alpha1.Template, compiled *cel.Template, maybe bool) *cel.Type {
	if maybe || compiled == nil {
		return cel.DynType
	}
	if t.Node.Kind == document.String && compiled.IsText() {
		return cel.StringType
	}
	return cel.DynType
}

// templateResult is the type of a template's value and where it comes from:
// one that is a single expression hands that expression's result on.
func (b *builder) templateResult(s *scope, t v1alpha1.Template, compiled *cel.Template) (*cel.Type, *analyze.Flow) {
	if p := compiled.Single(); p != nil {
		return cel.Unwrap(p.Type()), b.trace(s, p)
	}
	return templateType(t, compiled, false), nil
}

// collection compiles a variable with one value per item.
func (b *builder) collection(s *scope, v *v1alpha1.Variable, out *plan.Variable) (*plan.Variable, *cel.Type, *analyze.Flow) {
	over, flow := b.alias(s, v.ForEach)
	if over == nil {
		return nil, nil, nil
	}
	s.node.HandsOn.Consume(flow)
	s.node.Reads.Presence(flow)
	if !cel.IsList(over.Type()) && !cel.IsDyn(over.Type()) {
		b.problems.Errorf(v.ForEach.Pos(), "forEach needs a list, this gives %s", cel.TypeName(over.Type()))
		return nil, nil, nil
	}
	as := "item"
	if v.As.Set() && b.identifier(v.As, "item", map[string]bool{}, v.Pos) {
		as = v.As.Value
	}
	c := &plan.Collection{ForEach: over, As: as, Unique: v.Unique, Shape: collectionShape(v)}
	inner := s.part(analyze.Items, as, v.Pos).with(b, as, elemType(over.Type()), flow.Elem(), v.Pos)
	elem, elemFlow := b.collected(inner, v, c, elemType(over.Type()), flow.Elem())
	c.ObjectMask = inner.node.ObjectMask()
	c.Shared = inner.node.UsesOnly(analyze.Param)
	out.Collection = c
	return out, inputType(c.Shape, elem), inputFlow(c.Shape, elemFlow)
}

// collected compiles what a collection does with one item, and returns the type
// of a value and where it comes from.
func (b *builder) collected(s *scope, v *v1alpha1.Variable, c *plan.Collection, elem *cel.Type, flow *analyze.Flow) (*cel.Type, *analyze.Flow) {
	c.Locals, s = b.locals(s, v.Variables)
	c.When = b.program(s, v.When)
	b.wantType(c.When, v.When, cel.BoolType)
	if v.Value.Set() {
		c.Value = b.template(s, v.Value)
		elem, flow = b.templateResult(s, v.Value, c.Value)
	}
	if v.Unique {
		s.node.Reads.Consume(flow) // values are compared as a whole
	}
	keyed := s.with(b, "value", elem, flow, v.Pos)
	c.Key = b.program(keyed, firstSet(v.KeyBy, v.GroupBy))
	b.wantType(c.Key, firstSet(v.KeyBy, v.GroupBy), cel.StringType)
	for _, o := range v.OrderBy {
		c.OrderBy = append(c.OrderBy, b.program(keyed, o))
	}
	return elem, flow
}

func collectionShape(v *v1alpha1.Variable) plan.Shape {
	switch {
	case v.KeyBy.Set():
		return plan.Keyed
	case v.GroupBy.Set():
		return plan.Grouped
	default:
		return plan.List
	}
}

func elemType(t *cel.Type) *cel.Type {
	if cel.IsDyn(t) {
		return cel.DynType
	}
	return cel.ElemType(t)
}

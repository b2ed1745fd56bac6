package compile

import (
	"strings"

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

// mentions gives the variables that a variable's expressions name.
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
	var compiled *plan.Variable
	var t *cel.Type
	var flow *cel.Flow
	b.parts[name] = part{uses: b.using(func() { compiled, t, flow = b.compileVariable(&scope{env: b.env}, v) })}
	if compiled == nil {
		b.extend(cel.Var{Name: name, Type: cel.DynType}) // so that its users are still checked
		return
	}
	compiled.Name = v.Name.Value
	compiled.Own = compiled.Deps
	compiled.Deps = b.expand(compiled.Own)
	b.deps[name] = compiled.Deps
	b.flows[name] = flow
	b.plan.Slots[name] = plan.Slot{Kind: plan.VariableSlot, Index: len(b.plan.Variables)}
	b.plan.Variables = append(b.plan.Variables, compiled)
	b.extend(cel.Var{Name: name, Type: t})
}

// locals compiles the variables of a rule or a collection, in their order,
// and gives the scope that knows them.
func (b *builder) locals(s *scope, docs []v1alpha1.Variable, deps *plan.Deps) ([]*plan.Variable, *scope) {
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
		compiled, t, flow := b.compileVariable(s, v)
		if compiled == nil {
			s = s.with(b, v.Name.Value, cel.DynType, nil, v.Pos)
			continue
		}
		compiled.Name = v.Name.Value
		compiled.Own = compiled.Deps
		merge(deps, compiled.Deps)
		out = append(out, compiled)
		s = s.with(b, v.Name.Value, t, flow, v.Pos)
	}
	return out, s
}

// compileVariable compiles any form of variable.
func (b *builder) compileVariable(s *scope, v *v1alpha1.Variable) (*plan.Variable, *cel.Type, *cel.Flow) {
	out := &plan.Variable{Pos: v.Pos, Deps: newDeps()}
	switch {
	case v.Rego != nil:
		return b.rego(s, v, out)
	case v.ForEach.Set():
		return b.collection(s, v, out)
	case v.Expression.Set():
		p, flow := b.alias(s, v.Expression, &out.Deps)
		if p == nil {
			return nil, nil, nil
		}
		out.Program = p
		b.alsoReads(&out.Deps, flow)
		return out, p.Type(), flow
	case v.Value.Set():
		out.When = b.program(s, v.When, &out.Deps)
		b.wantType(out.When, v.When, cel.BoolType)
		out.Value = b.template(s, v.Value, &out.Deps)
		return out, templateType(v.Value, out.Value, out.When != nil), nil
	default:
		b.problems.Hintf(v.Pos, "expression, value, forEach or rego", "the variable %q says nothing", v.Name.Value)
		return nil, nil, nil
	}
}

// alsoReads makes a variable depend on the parts of objects that its value is
// made of, although reading them is left to its users.
func (b *builder) alsoReads(deps *plan.Deps, flow *cel.Flow) { deps.Reads.Consume(flow) }

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
func (b *builder) templateResult(s *scope, t v1alpha1.Template, compiled *cel.Template) (*cel.Type, *cel.Flow) {
	if p := compiled.Single(); p != nil {
		deps := newDeps()
		return cel.Unwrap(p.Type()), b.trace(s, p, &deps)
	}
	return templateType(t, compiled, false), nil
}

// collection compiles a variable with one value per item.
func (b *builder) collection(s *scope, v *v1alpha1.Variable, out *plan.Variable) (*plan.Variable, *cel.Type, *cel.Flow) {
	over, flow := b.alias(s, v.ForEach, &out.Deps)
	if over == nil {
		return nil, nil, nil
	}
	b.alsoReads(&out.Deps, flow)
	b.counted(flow, &out.Deps)
	if !cel.IsList(over.Type()) && !cel.IsDyn(over.Type()) {
		b.problems.Errorf(v.ForEach.Pos(), "forEach needs a list, this gives %s", cel.TypeName(over.Type()))
		return nil, nil, nil
	}
	as := "item"
	if v.As.Set() && b.identifier(v.As, "item", map[string]bool{}, v.Pos) {
		as = v.As.Value
	}
	c := &plan.Collection{ForEach: over, As: as, Unique: v.Unique, Shape: collectionShape(v), ItemDeps: newDeps()}
	inner := s.with(b, as, elemType(over.Type()), flow.Elem(), v.Pos)
	c.Locals, inner = b.locals(inner, v.Variables, &c.ItemDeps)
	c.When = b.program(inner, v.When, &c.ItemDeps)
	b.wantType(c.When, v.When, cel.BoolType)
	elem, elemFlow := elemType(over.Type()), flow.Elem()
	if v.Value.Set() {
		c.Value = b.template(inner, v.Value, &c.ItemDeps)
		elem, elemFlow = b.templateResult(inner, v.Value, c.Value)
	}
	if v.Unique {
		b.consume(elemFlow, &c.ItemDeps) // values are compared as a whole
	}
	keyed := inner.with(b, "value", elem, elemFlow, v.Pos)
	c.Key = b.program(keyed, firstSet(v.KeyBy, v.GroupBy), &c.ItemDeps)
	b.wantType(c.Key, firstSet(v.KeyBy, v.GroupBy), cel.StringType)
	for _, o := range v.OrderBy {
		c.OrderBy = append(c.OrderBy, b.program(keyed, o, &c.ItemDeps))
	}
	merge(&out.Deps, c.ItemDeps)
	c.Shared = itemOnly(c)
	out.Collection = c
	return out, inputType(c.Shape, elem), inputFlow(c.Shape, elemFlow)
}

// itemOnly says whether a collection computes its values from nothing but the
// items and params.
func itemOnly(c *plan.Collection) bool {
	known := map[string]bool{c.As: true, "value": true}
	for _, v := range c.Locals {
		known[v.Name] = true
	}
	for name := range c.ItemDeps.Uses {
		if !known[name] && !strings.HasPrefix(name, "params.") {
			return false
		}
	}
	return true
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

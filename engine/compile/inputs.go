package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// declareInputs makes the inputs' names and types known, so that variables can
// use them; their expressions are compiled later.
func (b *builder) declareInputs() {
	seen := map[string]bool{}
	var vars []cel.Var
	for i := range b.doc.Spec.Inputs {
		in := &b.doc.Spec.Inputs[i]
		if !b.identifier(in.Name, "input", seen, in.Pos) || !b.inputShape(in) {
			continue
		}
		gvk := schema.GVK{APIVersion: in.APIVersion.Value, Kind: in.Kind.Value}
		p := &plan.Input{Name: in.Name.Value, Pos: in.Pos, Type: b.options.Schemas.Of(gvk), Source: source(gvk), Shape: shapeOf(in)}
		if _, known := b.options.Schemas.Kind(gvk); !known {
			b.untypedKind(gvk, in.APIVersion, in.Kind)
		}
		root := "inputs." + p.Name
		b.plan.Slots[root] = plan.Slot{Kind: plan.InputSlot, Index: len(b.plan.Inputs)}
		b.plan.Inputs = append(b.plan.Inputs, p)
		b.kinds[b.inputRoot()] = gvk
		vars = append(vars, cel.Var{Name: root, Type: inputType(p.Shape, b.env.TypeOf(p.Type))})
		b.flows[root] = inputFlow(p.Shape, analyze.From(b.inputRoot()))
		p.Node = b.graph().Part(analyze.Input, p.Name, p.Pos)
		b.nodes[root] = p.Node
	}
	b.extend(vars...)
}

// inputRoot is the root of the objects of the newest input.
func (b *builder) inputRoot() analyze.Root {
	return analyze.Root{Kind: analyze.Input, Index: len(b.plan.Inputs) - 1}
}

func (b *builder) extend(vars ...cel.Var) {
	env, err := b.env.With(vars...)
	if err != nil {
		b.problems.Errorf(b.doc.Pos, "%v", err)
		return
	}
	b.env = env
}

func shapeOf(in *v1alpha1.Input) plan.Shape {
	switch {
	case in.Get.Set():
		return plan.One
	case in.KeyBy.Set():
		return plan.Keyed
	case in.GroupBy.Set():
		return plan.Grouped
	default:
		return plan.List
	}
}

func inputType(shape plan.Shape, item *cel.Type) *cel.Type {
	switch shape {
	case plan.One:
		return item
	case plan.Keyed:
		return cel.MapOf(item)
	case plan.Grouped:
		return cel.MapOf(cel.ListOf(item))
	default:
		return cel.ListOf(item)
	}
}

func inputFlow(shape plan.Shape, item *analyze.Flow) *analyze.Flow {
	switch shape {
	case plan.One:
		return item
	case plan.Grouped:
		return analyze.ListOf(analyze.ListOf(item))
	default:
		return analyze.ListOf(item)
	}
}

// inputShape refuses fields that do not go together.
func (b *builder) inputShape(in *v1alpha1.Input) bool {
	where := in.Name.Value
	if !in.APIVersion.Set() || !in.Kind.Set() {
		b.problems.Errorf(in.Pos, "the input %q needs apiVersion and kind", where)
		return false
	}
	if in.KeyBy.Set() && in.GroupBy.Set() {
		b.problems.Hintf(in.GroupBy.Pos(), "keyBy gives one item per key, groupBy a list", "the input %q has keyBy and groupBy", where)
		return false
	}
	if in.Get.Set() {
		for _, other := range []v1alpha1.Text{in.Where, in.KeyBy, in.GroupBy, in.Namespace} {
			if other.Set() {
				b.problems.Hintf(other.Pos(), "get names one object, the others narrow a list", "the input %q has get, so this field has no meaning", where)
				return false
			}
		}
	}
	return true
}

// compileInputs compiles the expressions of the inputs.
func (b *builder) compileInputs() {
	docs := map[string]*v1alpha1.Input{}
	for i := range b.doc.Spec.Inputs {
		docs[b.doc.Spec.Inputs[i].Name.Value] = &b.doc.Spec.Inputs[i]
	}
	for i, p := range b.plan.Inputs {
		b.compiling = p.Pos
		b.narrow(p, docs[p.Name])
		b.input(analyze.Root{Kind: analyze.Input, Index: i}, p, docs[p.Name])
	}
	for _, p := range b.plan.Inputs { // what is watched anyhow is known now
		b.sole(p)
	}
	b.optional(docs)
}

func (b *builder) input(root analyze.Root, p *plan.Input, in *v1alpha1.Input) {
	s := b.global(p.Node)
	p.Get = b.program(s, in.Get)
	b.wantType(p.Get, in.Get, cel.StringType, cel.MapOf(cel.StringType))
	p.Named = b.named(p.Get, in.Get)
	s = s.with(b, "item", b.env.TypeOf(p.Type), analyze.From(root), in.Pos)
	p.Where = b.program(s.part(analyze.Members, p.Name, in.Pos), in.Where)
	b.wantType(p.Where, in.Where, cel.BoolType)
	if key := firstSet(in.KeyBy, in.GroupBy); key.Set() {
		p.Key = b.program(s, key)
		b.wantType(p.Key, key, cel.StringType)
	}
	for _, o := range in.OrderBy {
		p.OrderBy = append(p.OrderBy, b.program(s, o))
	}
	p.ObjectMask = p.Node.ObjectMask()
	b.noInputs(p, in)
	b.join(p, in)
}

func firstSet(texts ...v1alpha1.Text) v1alpha1.Text {
	for _, t := range texts {
		if t.Set() {
			return t
		}
	}
	return v1alpha1.Text{}
}

// narrow evaluates what narrows the input by params alone.
func (b *builder) narrow(p *plan.Input, in *v1alpha1.Input) {
	params := b.paramScope()
	if in.When.Set() {
		if v, _ := b.paramValue(params, in.When); v != nil {
			p.Off = !value.IsTrue(v)
		}
	}
	if in.Selector.Set() {
		p.Source.Selector = b.selector(in.Selector).String()
	}
	if in.Namespace.Set() {
		v, program := b.paramValue(params, in.Namespace)
		namespace, ok := value.Str(v)
		if ok && namespace == "" {
			b.problems.Errorf(in.Namespace.Pos(), "the namespace of the input %q is empty", p.Name)
		}
		p.Source.Namespace = namespace
		p.Narrow.Namespace = known(namespace, program)
		b.inNamespace(p.Source.GVK, in.Namespace.Node)
	}
}

// sole narrows what is watched to the object that `get` names. The namespace of
// a name alone is the primary's if the kind has namespaces, which is known of
// the built-in ones everywhere: permissions are derived without a cluster.
func (b *builder) sole(p *plan.Input) {
	if p.Get == nil {
		return
	}
	at := p.Named
	if r, _ := schema.Builtin().Resource(p.Source.GVK); !r.Namespaced && !p.Get.Type().IsExactType(cel.MapOf(cel.StringType)) {
		at.Namespace = analyze.ParamValue{}
	}
	selector := p.Source.Selector
	p.Source, p.Narrow = b.narrowed(p.Source.GVK, at)
	p.Source.Selector = selector
}

// paramValue evaluates an expression over params, and returns the program, too.
func (b *builder) paramValue(s *scope, text v1alpha1.Text) (value.Value, *cel.Program) {
	program := s.env.Compile(cel.Whole(text), b.problems)
	if program == nil {
		return nil, nil
	}
	v, err := program.Eval(cel.ConstScope(b.constants()), b.budget.Meter)
	if err != nil {
		b.problems.Errorf(text.Pos(), "%v", err)
	}
	return v, program
}

// noInputs refuses joins that read other inputs: what they need could only be
// found by evaluating the whole policy for every key.
func (b *builder) noInputs(p *plan.Input, in *v1alpha1.Input) {
	reads := p.Node.Dependencies()
	for _, other := range b.plan.Inputs {
		if reads[other.Node] {
			b.problems.Hintf(firstSet(in.Where, in.Get, in.KeyBy, in.GroupBy).Pos(), "a join may read item, object, key, params and variables that read only those",
				"the input %q reads %s", p.Name, "inputs."+other.Name)
		}
	}
}

// join derives the index of the input, or warns that there is none.
func (b *builder) join(p *plan.Input, in *v1alpha1.Input) {
	if p.Where == nil {
		return
	}
	p.Join = analyze.JoinOf(p.Where)
	if p.Join.Item != nil {
		p.Index = b.plan.Name + "/" + p.Name
		return
	}
	if p.Join.Depends {
		b.problems.Warnf(in.Where.Pos(), "the input %q can only be answered by looking at every %s: no part of its where is an equality, exists, membership or label selector between item and object or key", p.Name, p.Source.Kind)
	}
}

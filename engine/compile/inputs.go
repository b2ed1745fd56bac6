package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// inputs compiles the inputs of a policy, in two steps: variables use their names,
// and their expressions use variables.
type inputs struct {
	policy    string
	names     *names
	objects   *objects
	constants *constants
	kinds     *kinds
	near      *near
	problems  *findings
}

// declare makes the inputs' names and types known.
func (ins *inputs) declare(docs []v1alpha1.Input) (out []input) {
	seen := map[string]bool{}
	var refs []declared
	for i := range docs {
		doc := &docs[i]
		if derived := doc.Owned || doc.Of != ""; !derived && !identifier(doc.Name, "input", seen, doc.Pos, ins.problems) || !rightFields(doc, ins.problems) {
			continue
		}
		in := ins.one(doc)
		d := declared{
			Ref: analyze.InputRef(in.plan.Name), node: in.plan.Node,
			of: shapeType(in.plan.Shape, ins.names.env.TypeOf(in.plan.Type)), flow: shapeFlow(in.plan.Shape, analyze.From(in.root)),
		}
		ins.names.know(d, plan.Slot{Kind: plan.InputSlot, Index: len(out)})
		refs = append(refs, d)
		out = append(out, in)
	}
	ins.names.declare(refs...)
	return out
}

// one makes an input that is not compiled yet.
func (ins *inputs) one(doc *v1alpha1.Input) input {
	gvk, of := ins.kinds.of(doc.APIVersion, doc.Kind)
	if doc.Of != "" {
		of = ins.kinds.shared(gvks(doc.Kinds)...)
	}
	p := &plan.Input{
		Name: doc.Name.Value, Of: doc.Of, Pos: doc.Pos, Kept: doc.Owned, Type: of, Source: world.Source{GVK: gvk}, Shape: shape(doc.KeyBy, doc.GroupBy),
		Node: analyze.New(analyze.Input, doc.Name.Value, doc.Pos),
	}
	if doc.Get.Set() {
		p.Shape = plan.One
	}
	out := input{plan: p, doc: doc, root: ins.objects.addInput(p), loose: ins.near.loose(gvk)}
	if p.Kept {
		p.Node.Compares.Add(out.root, world.WithManagers)
	}
	return out
}

// rightFields rejects fields that do not go together.
func rightFields(in *v1alpha1.Input, problems *findings) bool {
	where := in.Name.Value
	if in.Of == "" && len(in.Kinds) > 0 {
		return false // what is wrong with them was reported
	}
	if !in.APIVersion.Set() || !in.Kind.Set() {
		problems.Errorf(in.Pos, "the input %q needs apiVersion and kind, or kinds", where)
		return false
	}
	if in.KeyBy.Set() && in.GroupBy.Set() {
		keyAndGroup(in, problems)
		return false
	}
	if in.Get.Set() {
		for _, other := range []v1alpha1.Text{in.Where, in.KeyBy, in.GroupBy, in.Namespace} {
			if other.Set() {
				problems.Hintf(other.Pos(), "get names one object, the others narrow a list", "the input %q has get, so this field has no meaning", where)
				return false
			}
		}
	}
	return true
}

// compile compiles the expressions of the inputs.
func (ins *inputs) compile(list []input) {
	for _, in := range list {
		ins.problems.enter(in.plan.Pos)
		ins.restrict(in)
		ins.expressions(in)
		join(in, ins.policy, list, ins.problems)
	}
	for _, in := range list { // what is watched anyhow is known now
		in.sole(ins.objects)
	}
}

func (ins *inputs) expressions(in input) {
	s := newScope(ins.names, in.plan.Node)
	in.plan.Get = s.typed(in.doc.Get, cel.StringType, cel.MapOf(cel.StringType))
	in.plan.Named = named(in.plan.Get, in.doc.Get, ins.objects.place(analyze.Object, analyze.Scope{}).Namespace, ins.constants)
	s = s.with(analyze.ItemName, s.env.TypeOf(in.plan.Type), analyze.From(in.root), in.plan.Pos)
	in.plan.Where = s.part(analyze.Members, in.plan.Name, in.plan.Pos).typed(in.doc.Where, cel.BoolType)
	in.plan.Key = s.typed(firstSet(in.doc.KeyBy, in.doc.GroupBy), cel.StringType)
	in.plan.OrderBy = s.order(in.doc.OrderBy)
	item := analyze.ParseRef(analyze.ItemName)
	in.plan.Shared = usesOnly(append([]*cel.Program{in.plan.Key}, in.plan.OrderBy...), func(r analyze.Ref) bool { return r == item || r.Kind == analyze.Param })
	in.plan.ObjectMask = in.plan.Node.ObjectMask()
}

// restrict evaluates what restricts the input by params alone.
func (ins *inputs) restrict(in input) {
	if in.doc.When.Set() {
		if v, _ := ins.constants.expression(in.doc.When); v != nil {
			in.plan.Off = !value.IsTrue(v)
		}
	}
	if in.doc.Selector.Set() {
		in.plan.Source.Selector = ins.constants.selector(in.doc.Selector).String()
	}
	if in.doc.Namespace.Set() {
		v, program := ins.constants.expression(in.doc.Namespace)
		namespace, ok := value.Str(v)
		if ok && namespace == "" {
			ins.problems.Errorf(in.doc.Namespace.Pos(), "the namespace of the input %q is empty", in.plan.Written())
		}
		in.plan.Source.Namespace = namespace
		in.plan.Narrow.Namespace = known(namespace, program)
		ins.kinds.inNamespace(in.plan.Source.GVK, in.doc.Namespace.Node)
	}
	ins.near.restrict(in)
}

package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// input is an input while it is compiled.
type input struct {
	plan *plan.Input
	doc  *v1alpha1.Input
	root analyze.Root
	// loose says that it is unknown whether its objects and keys have namespaces.
	loose bool
}

// join derives the index of an input, or warns that there is none.
func join(in input, policy string, all []input, problems *findings) {
	noInputs(in, all, problems)
	if in.plan.Where != nil {
		in.plan.Join = analyze.JoinOf(in.plan.Where)
	}
	if in.plan.Own {
		in.plan.Join = in.plan.Join.InNamespace(in.loose, in.plan.Where == nil)
	}
	if in.plan.Join.Item != nil {
		in.plan.Index = policy + "/" + in.plan.Name
		return
	}
	if in.plan.Join.Depends {
		problems.Reportf(document.UnindexedJoin, in.doc.Where.Pos(), "", "the input %q can only be answered by looking at every %s: no part of its where is an equality, exists, membership or label selector between item and object or key", in.plan.Written(), in.plan.Source.Kind)
	}
}

// noInputs rejects joins that read other inputs: what they need could only be
// found by evaluating the whole policy for every key.
func noInputs(in input, all []input, problems *findings) {
	reads := in.plan.Node.Dependencies()
	for _, other := range all {
		if reads[other.plan.Node] {
			problems.Hintf(firstSet(in.doc.Where, in.doc.Get, in.doc.KeyBy, in.doc.GroupBy).Pos(), "a join may read item, object, key, params and variables that read only those",
				"the input %q reads %s", in.plan.Written(), analyze.InputRef(other.plan.Written()))
		}
	}
}

// named says which object an input gets, as far as params alone tell. A name
// alone means the namespace of the primary: within, when it is only one.
func named(get *cel.Program, text v1alpha1.Text, within analyze.ParamValue, c *constants) analyze.Scope {
	switch {
	case get == nil:
		return analyze.Scope{}
	case analyze.OnlyParams(get):
		return constantName(text, within, c)
	case get.Type().IsExactType(cel.StringType):
		return analyze.Scope{Namespace: within}
	default:
		return analyze.Scope{}
	}
}

func constantName(text v1alpha1.Text, within analyze.ParamValue, c *constants) analyze.Scope {
	v, program := c.expression(text)
	part := func(v value.Value) analyze.ParamValue {
		s, _ := value.Str(v)
		return known(s, program)
	}
	if m, ok := v.(*value.Map); ok {
		return analyze.Scope{Namespace: part(value.Path(m, "namespace")), Name: part(value.Path(m, "name"))}
	}
	return analyze.Scope{Namespace: within, Name: part(v)}
}

// sole restricts what is watched to the object that `get` names. The namespace of
// a name alone is the primary's if the kind has namespaces, which is known of
// the built-in ones everywhere: permissions are derived without a cluster.
func (in input) sole(o *objects) {
	if in.plan.Get == nil {
		return
	}
	at := in.plan.Named
	if r, _ := schema.Builtin().Resource(in.plan.Source.GVK); !r.Namespaced && !in.plan.Get.Type().IsExactType(cel.MapOf(cel.StringType)) {
		at.Namespace = analyze.ParamValue{}
	}
	if _, err := world.Identify(in.plan.Source.GVK, at.Namespace.Value, at.Name.Value); err != nil && at.Name.Value != "" {
		in.plan.Off = true // there is no object of that name
		return
	}
	selector := in.plan.Source.Selector
	in.plan.Source, in.plan.Narrow = o.source(in.plan.Source.GVK, at)
	in.plan.Source.Selector = selector
}

func keyAndGroup(in *v1alpha1.Input, problems *findings) {
	problems.Hintf(in.GroupBy.Pos(), "keyBy gives one item per key, groupBy a list", "the input %q has keyBy and groupBy", in.Name.Value)
}

package compile

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// rego compiles a variable that asks a Rego module.
func (b *builder) rego(s *scope, v *v1alpha1.Variable, out *plan.Variable) (*plan.Variable, *cel.Type, *analyze.Flow) {
	r := v.Rego
	out.Value = b.template(s, r.Input)
	result, resultType := b.regoResult(r)
	if !r.Query.Set() {
		b.problems.Errorf(r.Pos, "rego needs a query such as data.package.rule")
		return nil, nil, nil
	}
	library := b.modules(r)
	if library == nil {
		return nil, nil, nil
	}
	query, problem := library.Query(r.Query.Value, r.Query.Pos())
	if problem != nil {
		problem.Source = r.Query.Node.SourceLine(problem.Line)
		b.problems.Add(*problem)
		return nil, nil, nil
	}
	b.problems.Append(library.CheckInput(query, inputShape(r.Input.Node)))
	b.queries = append(b.queries, query)
	s.node.Use(b.modulesNode)
	result.Query = r.Query.Value
	out.Rego = &plan.Rego{Query: query, Result: result}
	return out, resultType, nil
}

// modules returns the policy's Rego: what stands in the variable itself, else in
// files beside the policy, which are compiled once.
func (b *builder) modules(r *v1alpha1.Rego) *rego.Library {
	if r.Module.Set() {
		library, problems := rego.Compile(b.options.Rego, []rego.Module{{Name: "module", Text: r.Module.Value, Node: r.Module.Node}})
		b.problems.Append(problems)
		return library
	}
	files := b.options.Modules[b.doc.Pos.File]
	if len(files) == 0 {
		b.problems.Hintf(r.Pos, "in module:, or in a file beside the policy that is named like it and ends in .rego", "there is no Rego module")
		return nil
	}
	if b.library == nil && !b.compiledModules {
		b.compiledModules = true
		var problems []document.Problem
		b.library, problems = rego.Compile(b.options.Rego, files)
		b.problems.Append(problems)
	}
	return b.library
}

// lintModules warns about what looks wrong in the modules beside the policy,
// once it is known what the policy asks them.
func (b *builder) lintModules() {
	if b.library != nil {
		b.problems.Append(b.library.Lint(b.queries...))
	}
}

// regoResult returns what a query may answer, and its type in expressions.
func (b *builder) regoResult(r *v1alpha1.Rego) (rego.Result, *cel.Type) {
	var out rego.Result
	switch enum, of := r.Result.Enum, r.Result.Schema; {
	case enum != nil:
		list, ok := value.Freeze(enum.Plain(), nil, value.KeepAll).(*value.List)
		if out.Enum = value.Strings(list); !ok || len(out.Enum) == 0 || len(out.Enum) != list.Len() {
			b.problems.Hintf(enum.Pos, "result: {enum: [yes, no]}", "enum must be a list of texts")
		}
		return out, cel.StringType
	case of != nil:
		raw, _ := of.Plain().(map[string]any)
		t, err := schema.FromOpenAPI(b.plan.Name+".result", raw)
		if err != nil {
			b.problems.Errorf(of.Pos, "the schema of the result: %v", err)
			return out, cel.DynType
		}
		out.Schema = t
		return out, b.env.TypeOf(t)
	}
	return out, cel.DynType
}

// inputShape is what is known of an input's fields: those that its mapping
// spells out.
func inputShape(n *document.Node) *schema.Type {
	if n == nil || n.Kind != document.Map || slices.ContainsFunc(n.Keys, computed) {
		return &schema.Type{Kind: schema.Dyn}
	}
	t := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{}}
	for i, key := range n.Keys {
		t.Fields[key.Text] = inputShape(n.Values[i])
	}
	return t
}

func computed(key *document.Node) bool { return strings.Contains(key.Text, "${") }

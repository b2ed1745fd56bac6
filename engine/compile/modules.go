package compile

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/schema"
)

// modules are the Rego modules of a policy.
type modules struct {
	evaluator rego.Evaluator
	// files are those beside the policy, node is their part of the graph.
	files []rego.Module
	node  *analyze.Node
	// library are the files once they are compiled, queries what the policy calls
	// of them.
	library  *rego.Library
	compiled bool
	queries  []*rego.Query
	problems *findings
	// ended is that modules took all time or memory that they may: those after
	// them are not compiled, so that one policy reaches such a limit once.
	ended bool
}

func newModules(evaluator rego.Evaluator, files []rego.Module, policy string, at document.Position, problems *findings) *modules {
	m := &modules{evaluator: evaluator, files: files, node: analyze.New(analyze.Modules, policy, at), problems: problems}
	var text strings.Builder
	for _, f := range files {
		text.WriteString(f.Text)
	}
	m.node.Text = text.String()
	return m
}

// query compiles the query of a variable, with its input; nil when it is wrong.
func (m *modules) query(r *v1alpha1.Rego, input *cel.Template) *rego.Query {
	if !r.Query.Set() {
		m.problems.Errorf(r.Pos, "rego needs a query such as data.package.rule")
		return nil
	}
	library := m.of(r)
	if library == nil {
		return nil
	}
	query, problem := library.Query(r.Query.Value, r.Query.Pos())
	if problem != nil {
		problem.Source = r.Query.Node.SourceLine(problem.Line)
		m.problems.Add(*problem)
		return nil
	}
	m.problems.Append(library.CheckInput(query, inputType(r.Input.Node, input)))
	m.queries = append(m.queries, query)
	return query
}

// of returns the Rego of a variable: what is in the variable itself, else in
// files beside the policy, which are compiled once.
func (m *modules) of(r *v1alpha1.Rego) *rego.Library {
	if r.Module.Set() {
		return m.compile([]rego.Module{{Name: "module", Text: r.Module.Value, Node: r.Module.Node}})
	}
	if len(m.files) == 0 {
		m.problems.Hintf(r.Pos, "in module:, or in a file beside the policy that is named like it and ends in .rego", "there is no Rego module")
		return nil
	}
	if !m.compiled {
		m.compiled = true
		m.library = m.compile(m.files)
	}
	return m.library
}

func (m *modules) compile(texts []rego.Module) *rego.Library {
	if m.ended {
		return nil
	}
	library, problems, err := rego.Compile(m.evaluator, texts)
	m.problems.Append(problems)
	m.ended = err != nil
	return library
}

// lint warns about what looks wrong in the modules beside the policy, once it is
// known what the policy calls of them.
func (m *modules) lint() {
	if m.library != nil {
		m.problems.Append(m.library.Lint(m.queries...))
	}
}

// inputType returns the type of the input of a query, by the mapping and the types of its
// expressions. A query without an input has a type without fields.
func inputType(n *document.Node, t *cel.Template) *schema.Type {
	if program := t.Program(); program != nil && cel.IsObject(cel.Unwrap(program.Type())) {
		return program.Env().Schema(cel.Unwrap(program.Type()))
	}
	if n != nil && (n.Kind != document.Map || slices.ContainsFunc(n.Keys, computed)) {
		return schema.Any
	}
	out := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{}}
	if n != nil {
		for i, key := range n.Keys {
			out.Fields[key.Text] = inputType(n.Values[i], t.Field(key.Text))
		}
	}
	return out
}

func computed(key *document.Node) bool { return strings.Contains(key.Text, "${") }

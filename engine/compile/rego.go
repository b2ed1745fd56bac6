package compile

import (
	"crypto/sha256"
	"fmt"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// variable compiles a variable that queries a Rego module.
func (m *modules) variable(s *scope, r *v1alpha1.Rego, out *plan.Variable) *variable {
	out.Value = s.template(r.Input)
	result, of := m.result(s, r)
	query := m.query(r, out.Value)
	if query == nil {
		return nil
	}
	s.node.Use(m.node)
	result.Query = r.Query.Value
	out.Rego = &plan.Rego{Query: query, Result: result}
	return &variable{plan: out, of: of}
}

// result returns what a query may return, and its type in expressions.
func (m *modules) result(s *scope, r *v1alpha1.Rego) (rego.Result, *cel.Type) {
	var out rego.Result
	switch enum, of := r.Result.Enum, r.Result.Schema; {
	case enum != nil:
		list, ok := value.Freeze(enum.Plain(), nil, value.KeepAll).(*value.List)
		if ok {
			out.Enum = value.Strings(list)
		}
		if len(out.Enum) == 0 || len(out.Enum) != list.Len() {
			s.problems.Hintf(enum.Pos, "result: {enum: [load, none]}", "enum must be a list of texts")
		}
		return out, cel.StringType
	case of != nil:
		allowed, err := schema.NewValidator(resultName(m.node.Name, of), of.Plain())
		if err != nil {
			s.problems.Errorf(of.Pos, "the schema of the result: %v", err)
			return out, cel.DynType
		}
		out.Schema = allowed
		return out, s.env.TypeOf(allowed.Type)
	}
	return out, cel.DynType
}

// resultName returns the name of the type of a result, which no other type has: policies are compiled in one
// environment.
func resultName(module string, of *document.Node) string {
	return fmt.Sprintf("%x/%s.result", sha256.Sum256([]byte(fmt.Sprint(of.Plain()))), module)
}

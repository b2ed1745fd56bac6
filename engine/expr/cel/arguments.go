package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/expr"
)

// arguments rejects calls of builtins whose argument types can never be right
// although the declaration takes them, such as a map of labels where a
// LabelSelector is meant.
type arguments map[string]func([]expr.Type) string

func argumentValidator(functions []expr.Function) arguments {
	out := arguments{}
	for _, f := range functions {
		if f.Reject != nil {
			out[f.Name] = f.Reject
		}
	}
	return out
}

// Name implements cel.ASTValidator.
func (arguments) Name() string { return "edict.arguments" }

// Validate implements cel.ASTValidator.
func (v arguments) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		reject, ok := v[e.AsCall().FunctionName()]
		if !ok {
			return
		}
		given := make([]expr.Type, len(e.AsCall().Args()))
		for i, arg := range e.AsCall().Args() {
			given[i] = typeInto(Unwrap(a.GetType(arg.ID())))
		}
		if why := reject(given); why != "" {
			issues.ReportErrorAtID(e.ID(), "%s", why)
		}
	}))
}

// typeInto is the type that a builtin sees of a checked expression.
func typeInto(t *Type) expr.Type {
	switch t.Kind() {
	case types.StructKind:
		return expr.Object
	case types.ListKind:
		return expr.ListOf(typeInto(ElemType(t)))
	case types.MapKind:
		return expr.MapOf(typeInto(ElemType(t)))
	case types.StringKind:
		return expr.String
	case types.NullTypeKind:
		return expr.Type{Name: "null"}
	case types.DynKind, types.AnyKind, types.TypeParamKind:
		return expr.Dyn
	default:
		return expr.Type{Name: TypeName(t)}
	}
}

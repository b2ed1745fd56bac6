package direct

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// compiler makes nodes of a syntax tree. Each of its methods returns nil for what
// has no form here.
type compiler struct {
	checked   *ast.AST
	functions Functions
}

func (c *compiler) node(e ast.Expr) node {
	if name, ok := c.checked.ReferenceMap()[e.ID()]; ok && e.Kind() != ast.CallKind {
		return c.name(e, name)
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return constant{e.AsLiteral()}
	case ast.SelectKind:
		return c.selection(e.AsSelect())
	case ast.CallKind:
		return c.call(e)
	}
	return nil
}

// nodes makes nodes of several expressions; nil when one of them has no form here.
func (c *compiler) nodes(list []ast.Expr) []node {
	out := make([]node, len(list))
	for i, e := range list {
		if out[i] = c.node(e); out[i] == nil {
			return nil
		}
	}
	return out
}

// name is a name of the policy, such as key or variables.x, or a constant. Names
// of types are left to the interpreter.
func (c *compiler) name(e ast.Expr, to *ast.ReferenceInfo) node {
	switch {
	case to.Value != nil:
		return constant{to.Value}
	case c.checked.GetType(e.ID()).Kind() == types.TypeKind:
		return nil
	}
	return name{strings.TrimPrefix(to.Name, ".")}
}

func (c *compiler) selection(s ast.SelectExpr) node {
	of := c.node(s.Operand())
	switch {
	case of == nil:
		return nil
	case s.IsTestOnly():
		return has{of: of, key: s.FieldName(), boxed: types.String(s.FieldName())}
	}
	if m, ok := of.(maybe); ok {
		return optionalField{inner: m, key: s.FieldName(), boxed: types.String(s.FieldName())}
	}
	return field{of: of, key: s.FieldName(), boxed: types.String(s.FieldName())}
}

func (c *compiler) call(e ast.Expr) node {
	call := e.AsCall()
	list := call.Args()
	if call.IsMemberFunction() {
		list = append([]ast.Expr{call.Target()}, list...)
	}
	args := c.nodes(list)
	if args == nil && len(list) > 0 {
		return nil
	}
	if n := operator(call.FunctionName(), args); n != nil {
		return n
	}
	return c.function(e, args)
}

// operator returns the node of what has one of its own.
func operator(function string, args []node) node {
	switch function {
	case operators.LogicalAnd:
		return every{args}
	case operators.LogicalOr:
		return some{args}
	case operators.LogicalNot:
		return not{args[0]}
	case operators.Conditional:
		return choice{args[0], args[1], args[2]}
	case operators.Equals:
		return equal{args[0], args[1]}
	case operators.NotEquals:
		return unequal{args[0], args[1]}
	case operators.Index:
		return index(args[0], args[1])
	case operators.OptSelect, operators.OptIndex:
		return optionalIndex(args[0], args[1])
	case "orValue":
		if m, ok := args[0].(maybe); ok {
			return orValue{m, args[1]}
		}
	case "hasValue":
		if m, ok := args[0].(maybe); ok {
			return hasValue{m}
		}
	}
	return nil
}

// lazy are the functions that do not always look at all their arguments: the
// interpreter has forms of its own for them.
var lazy = map[string]bool{operators.Index: true, operators.OptIndex: true, operators.OptSelect: true, "orValue": true, "or": true, "optMap": true, "optFlatMap": true, "@not_strictly_false": true, "cel.@block": true}

// function is a call of what the interpreter would call.
func (c *compiler) function(e ast.Expr, args []node) node {
	function := e.AsCall().FunctionName()
	if lazy[function] {
		return nil
	}
	overload := ""
	if to, ok := c.checked.ReferenceMap()[e.ID()]; ok && len(to.OverloadIDs) == 1 {
		overload = to.OverloadIDs[0]
	}
	impl := c.functions(function, overload)
	if impl == nil || impl.NonStrict || impl.Async != nil {
		return nil
	}
	switch {
	case len(args) == 1 && impl.Unary != nil:
		return unary{args[0], impl.OperandTrait, impl.Unary}
	case len(args) == 2 && impl.Binary != nil:
		return binary{args[0], args[1], impl.OperandTrait, impl.Binary}
	case impl.Function != nil && len(args) <= maxArguments:
		return variadic{args, impl.OperandTrait, impl.Function}
	}
	return nil
}

// constant is a value that the text has.
type constant struct{ value ref.Val }

func (n constant) eval(Scope) ref.Val { return n.value }

// name is a name that the scope knows.
type name struct{ name string }

func (n name) eval(scope Scope) ref.Val {
	v, ok := scope.ResolveName(n.name)
	if !ok {
		return nil
	}
	return good(v)
}

// good returns a value that can be worked with; nil for an error, and for what only
// the interpreter knows.
func good(v any) ref.Val {
	switch v := v.(type) {
	case *types.Err, *types.Unknown:
		return nil
	case ref.Val:
		return v
	}
	return nil
}

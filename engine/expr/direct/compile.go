package direct

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// compiler makes nodes of a syntax tree. Each of its methods returns nil for what
// has no form here.
type compiler struct {
	checked *ast.AST
	library Library
	// bound are the variables of the loops around what is compiled; most is how many
	// there were at most.
	bound []string
	most  int
	// named are the places of those that some expression names.
	named map[int]bool
	// lifted are the parts of loops that are the same in each round.
	lifted []node
}

func (c *compiler) node(e ast.Expr) node {
	if e.Kind() == ast.IdentKind {
		for i, name := range slices.Backward(c.bound) {
			if name == e.AsIdent() {
				c.named[i] = true
				return variable{i}
			}
		}
	}
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
	case ast.ComprehensionKind:
		return c.loop(e)
	case ast.ListKind:
		return c.list(e.AsList())
	case ast.MapKind:
		return c.object(e.AsMap())
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
		return has(of, s.FieldName())
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
	if equality[call.FunctionName()] && c.large(e) {
		return c.function(e, args)
	}
	if n := operator(call.FunctionName(), args); n != nil {
		return n
	}
	return c.function(e, args)
}

// equality are the operators that are charged where what they compare may be large.
var equality = map[string]bool{operators.Equals: true, operators.NotEquals: true}

// large reports whether a call is charged.
func (c *compiler) large(e ast.Expr) bool {
	call := c.library.Call(e)
	return call == nil || call.Need != nil && !call.Light
}

// operator returns the node of what has one of its own.
func operator(function string, args []node) node {
	switch function {
	case operators.LogicalAnd:
		return logic{args, types.False}
	case operators.LogicalOr:
		return logic{args, types.True}
	case operators.LogicalNot:
		return unary{args[0], negate}
	case operators.Conditional:
		return choice{args[0], args[1], args[2]}
	case operators.Equals:
		return binary{args[0], args[1], compare}
	case operators.NotEquals:
		return binary{args[0], args[1], differ}
	case operators.Index:
		return index(args[0], args[1])
	case operators.NotStrictlyFalse:
		return unary{args[0], truth}
	case operators.OptSelect, operators.OptIndex:
		return optionalIndex(args[0], args[1])
	case "orValue":
		return orValue{args[0], args[1]}
	case "or":
		return or{args[0], args[1]}
	case "hasValue":
		if m, ok := args[0].(maybe); ok {
			return hasValue{m}
		}
	}
	return nil
}

// constant is a value that the text has.
type constant struct{ value ref.Val }

func (n constant) eval(*Frame) ref.Val { return n.value }

// name is a name that the scope knows.
type name struct{ name string }

func (n name) eval(f *Frame) ref.Val {
	v, ok := f.ResolveName(n.name)
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

package check

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// guards returns what a condition says of fields where it has come out as given.
func (m *mentions) guards(p *cel.Program, outcome bool) keys {
	if p == nil {
		return keys{}
	}
	return m.when(fieldsOf(p), p.Tree().Expr(), outcome).all()
}

// when is guards for a part of an expression: a field that it asks for may still be absent
// if the default in its place gives that outcome.
func (m *mentions) when(f fields, e ast.Expr, outcome bool) mention {
	switch name, args := called(e); {
	case name == operators.LogicalNot:
		return m.when(f, args[0], !outcome)
	case name == operators.LogicalAnd && outcome, name == operators.LogicalOr && !outcome:
		return m.when(f, args[0], outcome).with(m.when(f, args[1], outcome))
	case m.withDefault(e) == truthOf(outcome):
		return mention{}
	}
	return m.of(f, e)
}

// withDefault returns what a comparison such as x.?a.orValue("") == "b" comes to where
// the field is absent.
func (m *mentions) withDefault(e ast.Expr) truth {
	name, args := called(e)
	if name != operators.Equals && name != operators.NotEquals {
		return sometimes
	}
	for i, arg := range args {
		other := args[1-i]
		if value, ok := m.defaultOf(arg); ok && other.Kind() == ast.LiteralKind {
			same := value.AsLiteral().Equal(other.AsLiteral()) == types.True
			return truthOf(same == (name == operators.Equals))
		}
	}
	return sometimes
}

// defaultOf returns the literal that a read gives where the field is absent, also one
// through a variable.
func (m *mentions) defaultOf(e ast.Expr) (value ast.Expr, ok bool) {
	switch {
	case e.Kind() == ast.IdentKind:
		value, ok = m.defaults[e.AsIdent()]
		return value, ok
	case e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "orValue":
		return nil, false
	}
	value = e.AsCall().Args()[0]
	return value, value.Kind() == ast.LiteralKind
}

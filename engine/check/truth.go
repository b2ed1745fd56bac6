package check

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// truth is what is known of a condition by its literals alone. What params decide is
// not known: they may be set otherwise.
type truth int

const (
	sometimes truth = iota
	always
	never
)

// holds returns what is known of a condition.
func holds(e ast.Expr) truth {
	switch e.Kind() {
	case ast.LiteralKind:
		if b, ok := e.AsLiteral().(types.Bool); ok {
			return truthOf(bool(b))
		}
	case ast.CallKind:
		switch name, args := called(e); name {
		case operators.LogicalNot:
			return map[truth]truth{always: never, never: always}[holds(args[0])]
		case operators.LogicalAnd:
			return joined(holds(args[0]), holds(args[1]), never)
		case operators.LogicalOr:
			return joined(holds(args[0]), holds(args[1]), always)
		case operators.Equals, operators.NotEquals:
			if args[0].Kind() == ast.LiteralKind && args[1].Kind() == ast.LiteralKind {
				same := args[0].AsLiteral().Equal(args[1].AsLiteral()) == types.True
				return truthOf(same == (name == operators.Equals))
			}
		}
	}
	return sometimes
}

func truthOf(b bool) truth {
	if b {
		return always
	}
	return never
}

// joined is an and or an or, which one side decides alone.
func joined(a, b, decides truth) truth {
	switch {
	case a == decides || b == decides:
		return decides
	case a == sometimes || b == sometimes:
		return sometimes
	}
	return a
}

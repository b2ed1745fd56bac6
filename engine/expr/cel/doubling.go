package cel

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// doubled reports whether a list, a map or a sum has a value more than once: a
// name as a whole and anything of it, or one field of it twice.
func (s shape) doubled(e ast.Expr, name string) bool {
	found := false
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(inner ast.Expr) {
		if inner.Kind() == ast.ListKind || inner.Kind() == ast.MapKind || inner.Kind() == ast.CallKind && inner.AsCall().FunctionName() == operators.Add {
			found = found || s.twice(inner, name)
		}
	}))
	return found
}

// twice reports whether a list, a map or a sum uses a name as a whole and anything of it,
// or one field of it twice. A field is not told apart from those within it.
func (s shape) twice(e ast.Expr, name string) bool {
	root := s.kind(e)
	if root == number {
		return false
	}
	u := doubling{shape: s, name: name, root: e, texts: root == text, fields: map[string]int{}}
	u.count(e)
	whole := u.all
	for _, n := range u.fields {
		whole -= n
		if n > 1 {
			return true
		}
	}
	return whole > 1 || whole == 1 && u.all > 1
}

// doubling counts the uses of a name in an expression, and of each of its fields. What is a
// single value, such as size(acc) or x in acc, has no part of what it was computed from.
// Texts in a list are single values, too: a call that builds a text has a limit of its own.
type doubling struct {
	shape shape
	name  string
	root  ast.Expr
	// texts says that the root is a text, of which texts are parts.
	texts  bool
	all    int
	fields map[string]int
}

func (u *doubling) count(e ast.Expr) {
	if kind := u.shape.kind(e); e != u.root && (kind == number || kind == text && !u.texts) {
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == u.name {
			u.all++
		}
	case ast.SelectKind:
		if of := e.AsSelect().Operand(); of.Kind() == ast.IdentKind && of.AsIdent() == u.name {
			u.fields[e.AsSelect().FieldName()]++
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		for _, part := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			u.count(part)
		}
	}
	for _, part := range Children(e) {
		u.count(part)
	}
}

// The kinds of values that a loop can collect.
const (
	collection = iota // or a value whose type is not known
	number            // or anything else whose size is fixed
	text
)

func (s shape) kind(e ast.Expr) int {
	switch s.types.GetType(e.ID()).Kind() {
	case types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind, types.TimestampKind, types.DurationKind:
		return number
	case types.StringKind, types.BytesKind:
		return text
	default:
		return collection
	}
}

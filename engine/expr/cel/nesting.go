package cel

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// MaxNested is how deep lists, maps and optionals may be nested in a type, and in an
// expression that is to be typed: the time of that grows with the cube of the depth.
const MaxNested = 16

// nesting finds where an expression nests too many lists, maps and optionals.
type nesting struct {
	// typeOf returns the type of a declared name.
	typeOf func(name string) *Type
	// at is the first expression beyond the limit, nil for none.
	at ast.Expr
}

// tooNested returns the first part of an expression that nests too many lists, maps and
// optionals, or nil. The expression need not be typed. Names are looked up only if the
// expression nests at all.
func (e *Env) tooNested(parsed *ast.AST) ast.Expr {
	n := nesting{}
	if n.of(parsed.Expr()) > 0 {
		n.typeOf = e.TypeOfName
		n.of(parsed.Expr())
	}
	return n.at
}

// of returns how many lists, maps and optionals the type of an expression can have within
// one another.
func (n *nesting) of(e ast.Expr) int {
	depth := n.parts(e)
	if isNest(e) {
		depth++
	}
	if depth > MaxNested && n.at == nil {
		n.at = e
	}
	return depth
}

func (n *nesting) parts(e ast.Expr) (depth int) {
	switch e.Kind() {
	case ast.IdentKind:
		return n.name(e.AsIdent())
	case ast.SelectKind:
		if name := qualified(e, nil); name != "" {
			return n.name(name)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension() // the type of its variable comes from its range
		return n.of(c.IterRange()) + max(n.of(c.AccuInit()), n.of(c.LoopCondition()), n.of(c.LoopStep()), n.of(c.Result()))
	case ast.MapKind:
		key, val := 0, 0
		for _, entry := range e.AsMap().Entries() {
			key, val = max(key, n.of(entry.AsMapEntry().Key())), max(val, n.of(entry.AsMapEntry().Value()))
		}
		return key + val
	}
	for _, part := range Children(e) {
		depth = max(depth, n.of(part))
	}
	return depth
}

func (n *nesting) name(name string) int {
	if n.typeOf == nil {
		return 0
	}
	return nestsIn(n.typeOf(name))
}

func isNest(e ast.Expr) bool {
	switch e.Kind() {
	case ast.ListKind, ast.MapKind:
		return true
	case ast.CallKind:
		call := e.AsCall()
		return call.IsMemberFunction() && call.Target().Kind() == ast.IdentKind && call.Target().AsIdent() == "optional" ||
			slices.Contains([]string{"optional.of", "optional.ofNonZeroValue", "type"}, call.FunctionName())
	}
	return false
}

// nested refuses an expression with too many lists, maps and optionals within one another.
func (c compiling) nested(parsed *ast.AST) bool {
	beyond := c.env.tooNested(parsed)
	if beyond == nil {
		return false
	}
	c.problems.Errorf(c.placeOf(parsed, beyond), "more than %d lists, maps and optionals are nested here, with those of loops and names; make flat values", MaxNested)
	return true
}

// nestedType refuses an expression whose type is too deep: it would be a part of others.
func (c compiling) nestedType(checked *cel.Ast) bool {
	if count := nestsIn(checked.OutputType()); count > MaxNested {
		c.problems.Errorf(c.text.at(0), "the type of this has %d lists, maps and optionals within one another, at most %d are allowed; make flat values", count, MaxNested)
		return true
	}
	return false
}

// nestsIn is how many lists, maps and optionals a type is made of.
func nestsIn(t *Type) (count int) {
	for _, p := range t.Parameters() {
		count += nestsIn(p)
	}
	if len(t.Parameters()) > 0 {
		count++
	}
	return count
}

package cel

import (
	"errors"
	"slices"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

// Use is an identifier in an expression: the first name of a chain such as a.b.
type Use struct {
	Name string
	// Start is its first character.
	Start int
	// Declared is the Start of the name that a macro declares and this stands for, its
	// own where it is declared; [Outside] for a name that the expression takes from
	// outside of itself.
	Declared int
}

// Outside is the Declared of a name that is not declared in the expression.
const Outside = -1

// unexpanded leaves macros as the calls that were written, so that the names that they
// declare have places.
var unexpanded = func() *parser.Parser {
	p, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true),
		parser.MaxRecursionDepth(MaxParens), parser.ExpressionSizeCodePointLimit(MaxExpression))
	if err != nil {
		panic("the parser of expressions: " + err.Error())
	}
	return p
}()

// Uses returns the identifiers of an expression in their order. It needs no types.
func Uses(text string) ([]Use, error) {
	parsed, wrong := unexpanded.Parse(common.NewTextSource(text))
	if list := wrong.GetErrors(); len(list) > 0 {
		return nil, errors.New(list[0].Message)
	}
	u := &uses{info: parsed.SourceInfo()}
	u.visit(parsed.Expr(), nil)
	slices.SortFunc(u.list, func(a, b Use) int { return a.Start - b.Start })
	return u.list, nil
}

// uses collects identifiers; bound are the names that macros declare, the innermost
// last.
type uses struct {
	info *ast.SourceInfo
	list []Use
}

func (u *uses) visit(e ast.Expr, bound []Use) {
	if e.Kind() == ast.IdentKind {
		u.ident(e, bound)
		return
	}
	parts := slices.Clone(Children(e))
	if e.Kind() != ast.CallKind {
		u.all(parts, bound)
		return
	}
	call := e.AsCall()
	m := macroOf(call)
	u.all(slices.DeleteFunc(parts, func(part ast.Expr) bool { return slices.Contains(m.names, part) || slices.Contains(m.inside, part) }), bound)
	for _, name := range m.names {
		use := Use{Name: name.AsIdent(), Start: u.start(name), Declared: u.start(name)}
		u.list, bound = append(u.list, use), append(slices.Clone(bound), use)
	}
	u.all(m.inside, bound)
}

func (u *uses) all(list []ast.Expr, bound []Use) {
	for _, e := range list {
		u.visit(e, bound)
	}
}

func (u *uses) ident(e ast.Expr, bound []Use) {
	use := Use{Name: e.AsIdent(), Start: u.start(e), Declared: Outside}
	for _, b := range bound {
		if b.Name == use.Name {
			use.Declared = b.Start
		}
	}
	u.list = append(u.list, use)
}

func (u *uses) start(e ast.Expr) int {
	at, _ := u.info.GetOffsetRange(e.ID())
	return int(at.Start)
}

// macro are the names that a call declares, and the arguments that may use them.
type macro struct{ names, inside []ast.Expr }

// oneName and twoNames are how many arguments a macro has when it declares one name,
// and when it declares two.
var (
	oneName = map[string][]int{
		"all": {2}, "exists": {2}, "existsOne": {2}, "exists_one": {2}, "filter": {2}, "map": {2, 3}, "sortBy": {2}, "optMap": {2}, "optFlatMap": {2},
	}
	twoNames = map[string][]int{
		"all": {3}, "exists": {3}, "existsOne": {3}, "exists_one": {3}, "transformList": {3, 4}, "transformMap": {3, 4}, "transformMapEntry": {3, 4},
	}
)

func macroOf(call ast.CallExpr) (m macro) {
	args, name := call.Args(), call.FunctionName()
	switch {
	case !call.IsMemberFunction() && name == CountDistinct && len(args) == 3:
		m = macro{args[1:2], args[2:]}
	case !call.IsMemberFunction():
	case name == Fold && len(args) == 4:
		m = macro{[]ast.Expr{args[0], args[2]}, args[3:]}
	case slices.Contains(oneName[name], len(args)):
		m = macro{args[:1], args[1:]}
	case slices.Contains(twoNames[name], len(args)):
		m = macro{args[:2], args[2:]}
	}
	if slices.ContainsFunc(m.names, func(e ast.Expr) bool { return e.Kind() != ast.IdentKind }) {
		return macro{} // not the macro, or not right
	}
	return m
}

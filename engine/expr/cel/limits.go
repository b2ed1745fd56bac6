package cel

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"

	"github.com/edict-dev/edict/engine/expr"
)

const (
	// MaxBound is how many bound variables may stack up, nested or chained.
	MaxBound = 5
	// MaxCopies is how often a short text may multiply one value by naming
	// it several times inside lists that later loops take apart again.
	MaxCopies = 64
)

// shapeValidator refuses expressions whose shape lets a short text do very
// much: many stacked loops, values that name themselves many times over, and
// patterns that are not literals.
type shapeValidator struct{}

// Name implements cel.ASTValidator.
func (shapeValidator) Name() string { return "edict.shape" }

// Validate implements cel.ASTValidator.
func (shapeValidator) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	s := shape{issues: issues, types: a}
	s.stack(a.Expr())
}

type shape struct {
	issues *cel.Issues
	types  *ast.AST
}

// load is how many bound variables stand on one another in an expression and
// how often it can multiply a value.
type load struct{ bound, copies int }

func (l load) max(o load) load { return load{max(l.bound, o.bound), max(l.copies, o.copies)} }

func (s shape) stack(e ast.Expr) load {
	switch e.Kind() {
	case ast.ComprehensionKind:
		return s.comprehension(e)
	case ast.CallKind:
		return s.call(e)
	default:
		return s.all(Children(e))
	}
}

func (s shape) all(list []ast.Expr) (l load) {
	for _, e := range list {
		l = l.max(s.stack(e))
	}
	return l
}

func (s shape) call(e ast.Expr) load {
	call := e.AsCall()
	l := s.all(call.Args())
	if call.IsMemberFunction() {
		l = l.max(s.stack(call.Target()))
	}
	if arg := patternOf(e); arg != nil {
		if _, ok := LiteralString(arg); !ok {
			s.issues.ReportErrorAtID(arg.ID(), "a pattern must be a literal; pattern.search takes one that is data")
		}
	}
	return l
}

// patternOf returns the pattern of a call that takes one; nil for any other
// expression.
func patternOf(e ast.Expr) ast.Expr {
	if e.Kind() != ast.CallKind {
		return nil
	}
	call, at := e.AsCall(), 0
	switch call.FunctionName() {
	case overloads.Matches, "find", "findAll":
	default:
		return nil
	}
	if !call.IsMemberFunction() {
		at = 1
	}
	if at >= len(call.Args()) || call.FunctionName() == overloads.Matches && at+1 < len(call.Args()) { // labels.matches has a selector
		return nil
	}
	return call.Args()[at]
}

// checkPattern holds a literal pattern to its limits. The size of its program
// is counted here, not by CEL's own option, which panics on a counted
// repetition such as a{2}: it compiles the pattern without simplifying it.
func checkPattern(text string) error {
	if len(text) > MaxRegex {
		return fmt.Errorf("a pattern may have %d bytes, this has %d", MaxRegex, len(text))
	}
	size, err := programSize(text)
	if err == nil && size > MaxRegexProgram {
		err = fmt.Errorf("the pattern has %d instructions, at most %d are allowed; repeat less often", size, MaxRegexProgram)
	}
	return err
}

// programSize returns how many instructions the program of a pattern has. One
// that is far too large is not compiled: that would take a tenth of a second.
func programSize(text string) (int, error) {
	size, err := expr.PatternSize(text)
	if err != nil {
		return 0, fmt.Errorf("not a regular expression of RE2: %w; lookahead and backreferences are not part of it", err)
	}
	if size > 10*MaxRegexProgram {
		return size, nil
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, fmt.Errorf("not a regular expression of RE2: %w", err)
	}
	return len(program.Inst), nil
}

// comprehension adds one bound variable to what its parts have stacked up.
func (s shape) comprehension(e ast.Expr) load {
	c := e.AsComprehension()
	inner := s.stack(c.LoopStep()).max(s.stack(c.LoopCondition())).max(s.stack(c.Result()))
	source := s.stack(c.IterRange()).max(s.stack(c.AccuInit()))
	copies := max(1, occurrences(c.LoopStep(), c.IterVar(), c.IterVar2()), occurrences(c.Result(), c.AccuVar()))
	l := load{bound: 1 + inner.bound + source.bound, copies: max(1, inner.copies) * max(1, source.copies) * copies}
	if collects(c) && s.doubled(c.LoopStep(), c.AccuVar()) {
		s.issues.ReportErrorAtID(c.LoopStep().ID(), "%s may stand once only in a list, a map or a sum: it would double for each item", c.AccuVar())
	}
	if l.bound > MaxBound {
		s.issues.ReportErrorAtID(e.ID(), "%d bound variables stack up here, at most %d may; split the expression into variables", l.bound, MaxBound)
	}
	if l.copies > MaxCopies {
		s.issues.ReportErrorAtID(e.ID(), "this copies one value %d times over, at most %d are allowed", l.copies, MaxCopies)
	}
	return l
}

// occurrences counts how often a list, a map or a sum names a variable.
func occurrences(e ast.Expr, names ...string) int {
	count := 0
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(inner ast.Expr) {
		switch inner.Kind() {
		case ast.ListKind:
			count = max(count, idents(inner, names))
		case ast.MapKind:
			count = max(count, idents(inner, names))
		case ast.CallKind:
			if inner.AsCall().FunctionName() == operators.Add {
				count = max(count, idents(inner, names)-1)
			}
		}
	}))
	return count
}

// collects reports whether the author named what a loop collects, as fold does.
func collects(c ast.ComprehensionExpr) bool {
	return !strings.Contains(c.AccuVar(), "@")
}

// idents counts the uses of names, also where a loop binds another of that name.
func idents(e ast.Expr, names []string) (n int) {
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(inner ast.Expr) {
		if inner.Kind() == ast.IdentKind && inner.AsIdent() != "" && slices.Contains(names, inner.AsIdent()) {
			n++
		}
	}))
	return n
}

// tooLarge words the refusal of a text over the size limit.
func tooLarge(n int) string {
	return fmt.Sprintf("the expression has %d bytes, at most %d are allowed; split it into variables", n, MaxExpression)
}

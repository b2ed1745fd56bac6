package cel

import (
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/document"
)

// lint warns about what is right by its types and yet never meant.
func lint(checked *cel.Ast, text Text, problems *document.Problems) {
	l := linter{ast: checked.NativeRep(), text: text, problems: problems}
	ast.PostOrderVisit(l.ast.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() == ast.CallKind && len(x.AsCall().Args()) == 2 {
			l.operator(x)
		}
		if text, ok := LiteralString(x); ok && templated.MatchString(text) {
			l.warn(document.NameAsText, x, "join texts, as in params.name + \"-x\"; only templates have ${ }", templated.FindString(text)+" stays as it is in a text of an expression")
		}
		if x.Kind() == ast.ComprehensionKind && l.input(x.AsComprehension().IterRange()) != "" {
			l.nested(x)
		}
	}))
}

// templated is a name of the policy in the form that templates have.
var templated = regexp.MustCompile(`\$\{(object|item|key|params|inputs|children|variables)\.[^}]*\}`)

// nested warns about a loop over an input inside a loop over an input: the work
// grows with the product of both.
func (l *linter) nested(outer ast.Expr) {
	ast.PostOrderVisit(outer.AsComprehension().LoopStep(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() != ast.ComprehensionKind {
			return
		}
		if inner := l.input(x.AsComprehension().IterRange()); inner != "" {
			l.warn(document.QuadraticLoop, outer, "give "+inner+" a keyBy or groupBy and look items up", "for every item of "+l.input(outer.AsComprehension().IterRange())+" this goes through all of "+inner)
		}
	}))
}

// input returns the name of an input that is gone through as a whole, else "".
func (l *linter) input(e ast.Expr) string {
	reference, ok := l.ast.ReferenceMap()[e.ID()]
	if !ok {
		return ""
	}
	if _, isInput := cutQualifier(reference.Name, QualifyInputs); !isInput {
		return ""
	}
	return reference.Name
}

type linter struct {
	ast      *ast.AST
	text     Text
	problems *document.Problems
}

func (l *linter) operator(e ast.Expr) {
	a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals:
		if l.field(a) && IsNull(b) || l.field(b) && IsNull(a) {
			l.warn(document.NullComparison, e, "has(a.b) asks whether a field is there; a.?b.hasValue() also where a may be absent",
				"a field is absent or has a value: this comparison with null fails where it is absent, and is false where it is not")
		}
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		if amount(a) && l.isText(b) || amount(b) && l.isText(a) {
			l.warn(document.QuantityAsText, e, "quantity(a).isGreaterThan(quantity(b)), or quantity.value(a) > 100", "texts are compared letter by letter, not as quantities: \"1\" < \"500m\" < \"9\"")
		}
	}
}

// field reports whether an expression reads a field of an object, without .?
func (l *linter) field(e ast.Expr) bool {
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() {
		return false
	}
	reference, ok := l.ast.ReferenceMap()[e.ID()]
	return !ok || reference.Name == ""
}

func (l *linter) isText(e ast.Expr) bool { return l.ast.GetType(e.ID()).Kind() == types.StringKind }

var quantityForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$`)

func amount(e ast.Expr) bool {
	text, ok := LiteralString(e)
	return ok && quantityForm.MatchString(text)
}

func (l *linter) warn(code document.Code, e ast.Expr, hint, message string) {
	at := l.text.at(0)
	if start := l.ast.SourceInfo().GetStartLocation(e.ID()); start.Line() > 0 {
		at = l.text.at(offsetOf(l.text.Source, start.Line(), start.Column()))
	}
	l.problems.Add(document.Problem{Position: at, Severity: document.Warning, Code: code, Message: message, Hint: hint, Source: l.text.Node.SourceLine(at.Line)})
}

package cel

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/direct"
)

// Text is a place in a document that holds an expression: the whole of a
// scalar, or a part of it from an offset in characters.
type Text struct {
	Node   *document.Node
	Source string
	Offset int
}

// Whole is the text of a field that is all expression.
func Whole(t v1alpha1.Text) Text { return Text{Node: t.Node, Source: t.Value} }

// at returns the place of a character of the expression.
func (t Text) at(offset int) document.Position {
	if t.Node == nil {
		return document.Position{}
	}
	return t.Node.At(t.Offset + offset)
}

// Compile checks an expression and makes a program of it. What is wrong is
// added to problems, and the program is nil then.
func (e *Env) Compile(text Text, problems *document.Problems) *Program {
	if len(text.Source) > MaxExpression {
		problems.Errorf(text.at(0), "%s", tooLarge(len(text.Source)))
		return nil
	}
	if ok, refusal := e.budget.admit(text.Source); !ok {
		if refusal != "" {
			problems.Errorf(text.at(0), "%s", refusal)
		}
		return nil
	}
	checked := e.check(text, problems)
	if checked == nil || !e.constants(checked, text, problems) {
		return nil
	}
	return e.planned(checked, text, problems)
}

// compile is Compile for a part of a text that was compiled.
func (e *Env) compile(text Text, problems *document.Problems) *Program {
	checked := e.check(text, problems)
	if checked == nil {
		return nil
	}
	return e.planned(checked, text, problems)
}

func (e *Env) planned(checked *cel.Ast, text Text, problems *document.Problems) *Program {
	p, err := e.program(checked, text)
	if err != nil {
		problems.Errorf(text.at(0), "%v", err)
		return nil
	}
	e.lint(checked, text, problems)
	return p
}

// check parses a text, unless that was done to find the names in it, and checks
// its types. The patterns in it are measured in between: what checks types
// compiles them, which takes a tenth of a second for a large one.
func (e *Env) check(text Text, problems *document.Problems) *cel.Ast {
	parsed := e.budget.take(text.Source)
	if parsed == nil {
		var issues *cel.Issues
		if parsed, issues = e.base.Parse(text.Source); issues.Err() != nil {
			e.report(text, issues, problems)
			return nil
		}
	}
	if !e.patterns(parsed.NativeRep(), text, problems) {
		return nil
	}
	checked, issues := e.base.Check(parsed)
	if issues.Err() != nil {
		e.report(text, issues, problems)
		return nil
	}
	return checked
}

// patterns refuses literal patterns that are too large, and reports whether there
// are none.
func (e *Env) patterns(parsed *ast.AST, text Text, problems *document.Problems) bool {
	fits := true
	ast.PostOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		arg := patternOf(x)
		if arg == nil {
			return
		}
		pattern, ok := LiteralString(arg)
		if !ok {
			return
		}
		if err := checkPattern(pattern); err != nil {
			at := parsed.SourceInfo().GetStartLocation(arg.ID())
			problems.Errorf(text.at(offsetOf(text.Source, at.Line(), at.Column())), "%v", err)
			fits = false
		}
	}))
	return fits
}

func (e *Env) program(checked *cel.Ast, text Text) (*Program, error) {
	loops := false
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		loops = loops || x.Kind() == ast.ComprehensionKind
	}))
	nodes, simple := e.weigh(checked.NativeRep().Expr())
	m := newMeterer(e, checked.NativeRep(), simple)
	weight := uint64(nodes)
	if !simple {
		weight = m.costs.of(checked.NativeRep().Expr())
	}
	prg, err := e.planning.PlanProgram(checked.NativeRep(), cel.EvalOptions(cel.OptOptimize), m.option(), cel.InterruptCheckFrequency(100))
	switch {
	case err != nil:
		return nil, plainError(err)
	case len(m.counted) < len(m.costs.rounds):
		return nil, errors.New("the rounds of a loop in it cannot be counted")
	}
	p := &Program{text: text, env: e, checked: checked, prg: prg, loops: loops, weight: weight, simple: simple, metered: m.metered(), names: Names(checked.NativeRep().Expr())}
	p.direct = direct.Compile(checked.NativeRep(), m)
	return p, nil
}

// report turns CEL's issues into problems at their places in the file.
func (e *Env) report(text Text, issues *cel.Issues, problems *document.Problems) {
	syntax := false
	for _, issue := range issues.Errors() {
		if strings.HasPrefix(issue.Message, "Syntax error") {
			if syntax {
				continue // what follows from the first
			}
			syntax = true
		}
		if issue.Message == "invalid matches argument" {
			continue // checkPattern says why
		}
		offset := offsetOf(text.Source, issue.Location.Line(), issue.Location.Column())
		at := text.at(offset)
		message, hint := e.explain(issue.Message, string([]rune(text.Source)[min(offset, utf8.RuneCountInString(text.Source)):]), e.budget.hints())
		if elsewhere, known := spelt(text.Source); known && syntax {
			message, hint = elsewhere.text, elsewhere.hint
		}
		problems.Add(document.Problem{
			Position: at, Severity: document.Error, Message: message, Hint: hint,
			Source: text.Node.SourceLine(at.Line),
		})
	}
}

func offsetOf(source string, line, column int) int {
	offset := 0
	for i, l := range strings.Split(source, "\n") {
		if i+1 == line {
			return offset + max(0, column)
		}
		offset += utf8.RuneCountInString(l) + 1
	}
	return 0
}

var (
	undefinedField = regexp.MustCompile(`^undefined field '([^']+)'`)
	undeclared     = regexp.MustCompile(`^undeclared reference to '([^']+)'`)
)

// dotted is a name such as variables.x, or the beginning of a field access.
var dotted = regexp.MustCompile(`^([A-Za-z_]\w*)\.[A-Za-z_]\w*`)

// dottedName returns the name of a variable or builtin with a dot in it that a
// text begins with; "" when it begins with none.
func (e *Env) dottedName(text string) string {
	m := dotted.FindStringSubmatch(text)
	if m == nil || !slices.Contains(qualifiers, m[1]) && !e.hasFunctions(m[1]) {
		return ""
	}
	return m[0]
}

// hasFunctions reports whether builtins begin with a qualifier, as in
// labels.matches.
func (e *Env) hasFunctions(qualifier string) bool {
	for name := range e.functions {
		if strings.HasPrefix(name, qualifier+".") {
			return true
		}
	}
	return false
}

// explain says in a person's words what CEL found, and how to mend it; from is
// the expression from the place on that CEL complains about. Without guess it does
// not look for names that are alike.
func (e *Env) explain(message, from string, guess bool) (text, hint string) {
	message = strings.TrimSuffix(strings.ReplaceAll(message, " (in container '')", ""), "\n")
	message = protobufNames.Replace(hiddenArgument.Replace(message))
	if m := undefinedField.FindStringSubmatch(message); m != nil {
		if guess {
			hint = e.fieldHint(m[1])
		}
		return fmt.Sprintf("no field %q here", m[1]), hint
	}
	if m := undeclared.FindStringSubmatch(message); m != nil {
		name := m[1]
		if full := e.dottedName(from); strings.HasPrefix(full, name+".") {
			name = full
		}
		if guess {
			hint = e.nameHint(name)
		}
		return fmt.Sprintf("undefined name %q", name), hint
	}
	if text, hint := conversionProblem(message); text != "" {
		return text, hint
	}
	switch {
	case strings.Contains(message, "expected type") && strings.Contains(message, "but found"),
		strings.Contains(message, "mixed element types"):
		return message, "dyn(x) makes a value untyped where types are mixed on purpose"
	case strings.Contains(message, "found no matching overload"):
		if f := e.scanIn(message); f != nil {
			return message, "it is called as " + f.Signature()
		}
		return message, overloadHint(message)
	case strings.HasPrefix(message, "Syntax error"):
		return syntaxProblem(message, from)
	}
	return message, messageHint(message)
}

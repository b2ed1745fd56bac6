package cel

import (
	"cmp"
	"errors"
	"regexp"
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
	c := compiling{env: e, text: text, problems: problems}
	checked := c.check()
	if checked == nil || !c.constants(checked) {
		return nil
	}
	return c.planned(checked)
}

// compile is Compile for a part of a text that was compiled.
func (e *Env) compile(text Text, problems *document.Problems) *Program {
	c := compiling{env: e, text: text, problems: problems, again: true}
	checked := c.check()
	if checked == nil {
		return nil
	}
	return c.planned(checked)
}

// compiling makes a program of one expression.
type compiling struct {
	env      *Env
	text     Text
	problems *document.Problems
	// again is true for a part of an expression that was compiled: its steps are counted.
	again bool
}

func (c compiling) planned(checked *cel.Ast) *Program {
	p, err := c.program(checked)
	if err != nil {
		c.problems.Errorf(c.text.at(0), "%v", err)
		return nil
	}
	lint(checked, c.text, c.problems)
	return p
}

// check parses a text, unless that was done to find the names in it, and checks
// its types. The patterns in it are measured in between: what checks types
// compiles them, which takes a tenth of a second for a large one.
func (c compiling) check() *cel.Ast {
	parsed := c.env.budget.take(c.text.Source)
	if parsed == nil {
		var issues *cel.Issues
		if parsed, issues = c.env.base().Parse(c.text.Source); len(issues.Errors()) > 0 {
			c.report(nil, issues)
			return nil
		}
	}
	if c.nested(parsed.NativeRep()) || !c.patterns(parsed.NativeRep()) || !c.affordable(parsed) {
		return nil
	}
	checked, issues := c.env.base().Check(parsed)
	if len(issues.Errors()) > 0 && untypeDefaults(parsed.NativeRep()) {
		if again, wrong := c.env.base().Check(parsed); len(wrong.Errors()) == 0 {
			checked, issues = again, wrong
		}
	}
	if len(issues.Errors()) > 0 {
		c.report(parsed, issues)
		return nil
	}
	if c.nestedType(checked) {
		return nil
	}
	return checked
}

// untypeDefaults gives the {} of each .orValue({}) any type, so that it may be the default of an
// object of a schema. It reports whether there was one.
func untypeDefaults(parsed *ast.AST) (found bool) {
	next, factory := ast.MaxID(parsed), ast.NewExprFactory()
	ast.PostOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() != ast.CallKind || x.AsCall().FunctionName() != "orValue" || !x.AsCall().IsMemberFunction() {
			return
		}
		if d := x.AsCall().Args()[0]; d.Kind() == ast.MapKind && d.AsMap().Size() == 0 {
			d.SetKindCase(factory.NewCall(d.ID(), "dyn", factory.NewMap(next, nil)))
			next, found = next+1, true
		}
	}))
	return found
}

// patterns refuses literal patterns that are too large, and reports whether there
// are none.
func (c compiling) patterns(parsed *ast.AST) bool {
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
			c.problems.Errorf(c.placeOf(parsed, arg), "%v", err)
			fits = false
		}
	}))
	return fits
}

// placeOf returns where a part of the expression begins in the document.
func (c compiling) placeOf(parsed *ast.AST, part ast.Expr) document.Position {
	at := parsed.SourceInfo().GetStartLocation(part.ID())
	return c.text.at(offsetOf(c.text.Source, at.Line(), at.Column()))
}

func (c compiling) program(checked *cel.Ast) (*Program, error) {
	loops, kept := false, kept{types: len(checked.NativeRep().TypeMap()), bytes: len(c.text.Source)}
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		loops = loops || x.Kind() == ast.ComprehensionKind
		kept.add(x)
	}))
	c.env.budget.retain(kept)
	nodes, simple := c.env.functions.weigh(checked.NativeRep().Expr())
	m := newMeterer(c.env, checked.NativeRep(), simple)
	weight := uint64(nodes)
	if !simple {
		weight = m.costs.of(checked.NativeRep().Expr())
	}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize), m.option(), cel.InterruptCheckFrequency(100)}
	if kept.instructions > 0 {
		options = append(options, lazyPatterns())
	}
	prg, err := c.env.planning.PlanProgram(m.planned(), options...)
	switch {
	case err != nil:
		return nil, plainError(err)
	case len(m.counted) < len(m.costs.rounds):
		return nil, errors.New("the rounds of a loop in it cannot be counted")
	}
	p := &Program{text: c.text, env: c.env, checked: checked, prg: prg, loops: loops, weight: weight, simple: simple, metered: m.metered(), varies: m.varies(), names: Names(checked.NativeRep().Expr())}
	p.direct = direct.Compile(checked.NativeRep(), m)
	return p, nil
}

// report turns CEL's issues into problems at their places in the file. parsed is nil if
// the text does not parse.
func (c compiling) report(parsed *cel.Ast, issues *cel.Issues) {
	syntax, said := false, map[string]bool{}
	h := hinting{c.env, c.text.Node != nil && c.text.Node.Text == c.text.Source}
	unknown := h.unknownCallsIn(parsed, issues.Errors())
	for _, issue := range issues.Errors() {
		follows := unknown.follow[issue.ExprID] || strings.Contains(issue.Message, unknownType) ||
			issue.Message == "invalid matches argument" // checkPattern says why
		if isSyntax := strings.HasPrefix(issue.Message, "Syntax error"); isSyntax {
			follows, syntax = follows || syntax, true
		}
		if follows {
			continue
		}
		offset := offsetOf(c.text.Source, issue.Location.Line(), issue.Location.Column())
		message, hint := "", ""
		if name, ok := unknown.names[issue.ExprID]; ok {
			message, hint = h.explainCall(name, c.env.budget.hints())
			offset = startOf(name, c.text.Source, offset)
		} else {
			message, hint = h.explain(issue.Message, string([]rune(c.text.Source)[min(offset, utf8.RuneCountInString(c.text.Source)):]), c.env.budget.hints())
		}
		if strings.HasPrefix(message, "undefined name ") {
			before := string([]rune(c.text.Source)[:min(offset, utf8.RuneCountInString(c.text.Source))])
			if keyWithSlash.MatchString(before) && len(said) > 0 {
				continue // what is before it says so
			}
			hint = cmp.Or(hintAfter(before), hint)
		}
		at := c.text.at(offset)
		if elsewhere, known := spelt(c.text.Source); known && parsed == nil {
			message, hint = elsewhere.text, elsewhere.hint
		}
		if said[message] {
			continue
		}
		said[message] = true
		c.problems.Add(document.Problem{
			Position: at, Severity: document.Error, Message: message, Hint: hint,
			Source: c.text.Node.SourceLine(at.Line),
		})
	}
}

// hintAfter returns a hint about an undefined name from the text before it, or "".
func hintAfter(before string) string {
	switch {
	case dashedField.MatchString(before):
		return "a field with - in its name is written in backticks, as in x.`foo-bar`, a key in brackets, as in labels[\"foo-bar\"]"
	case keyWithSlash.MatchString(before):
		return messageHint("type 'string' does not support field selection")
	}
	return ""
}

// dashedField is before a name that may be the rest of another one.
var dashedField = regexp.MustCompile(`\.\??[A-Za-z_]\w*-$`)

// keyWithSlash is before a name that is the rest of a key.
var keyWithSlash = regexp.MustCompile(`(labels|annotations|matchLabels|nodeSelector)\.[\w.]*/$`)

// startOf returns where the name of a function begins of which CEL knows where the bracket
// after it is.
func startOf(name, source string, offset int) int {
	before := string([]rune(source)[:min(offset, utf8.RuneCountInString(source))])
	if strings.HasSuffix(before, name) {
		return offset - utf8.RuneCountInString(name)
	}
	return offset
}

// unknownType is how CEL writes the type of what has a mistake in it.
const unknownType = "!error!"

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

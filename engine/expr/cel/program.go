package cel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// Program is a compiled expression.
type Program struct {
	text    Text
	env     *Env
	checked *cel.Ast
	prg     cel.Program
	// direct evaluates without the interpreter, which it asks where it gives up; nil
	// where the expression has no such form.
	direct *direct.Program
	loops  bool
	// weight is what a run costs by the text; metered is set when loops and calls may
	// add to that, varies when they may also where arguments are not large, simple when
	// there is no loop and no function that builds.
	weight                  uint64
	simple, metered, varies bool
	// names are the declared names that the expression uses.
	names map[string]bool
}

// Type returns the type of the result.
func (p *Program) Type() *Type { return p.checked.OutputType() }

// Source returns the expression as it was written.
func (p *Program) Source() string { return p.text.Source }

// Pos returns the expression's place.
func (p *Program) Pos() document.Position { return p.text.at(0) }

// Eval runs the program. The result is settled: immutable and within the result
// limits. Errors carry the expression's place.
func (p *Program) Eval(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	if err := meter.Spend(p.weight); err != nil {
		return nil, p.fail(err)
	}
	out, err := p.run(scope, meter)
	if err != nil {
		return nil, p.fail(err)
	}
	settled, err := value.Settle(out)
	if err == nil {
		err = meter.Build(settled)
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return settled, nil
}

// run evaluates. Calls that may be large and the rounds of loops are charged
// before they are made; only a program that has such pays for it.
func (p *Program) run(scope expr.Scope, meter *expr.Meter) (ref.Val, error) {
	if out := p.directly(scope, meter); out != nil {
		return out, nil
	}
	return p.interpret(scope, meter)
}

// interpret evaluates with the interpreter.
func (p *Program) interpret(scope expr.Scope, meter *expr.Meter) (ref.Val, error) {
	if !p.metered {
		return p.eval(scope, meter)
	}
	charged := &metered{Scope: scope, meter: meter}
	outer := meter.Begin()
	out, err := p.eval(charged, meter)
	meter.End(outer)
	if charged.err != nil {
		err = charged.err
	}
	return out, err
}

// directly evaluates without the interpreter; nil when that has to be asked.
func (p *Program) directly(scope expr.Scope, meter *expr.Meter) ref.Val {
	if p.direct == nil {
		return nil
	}
	outer := meter.Begin()
	out := p.direct.Eval(scope, meter)
	meter.End(outer)
	return out
}

// Rows evaluates for many rows at once; see direct.Program. It is nil for an
// expression that cannot be, or whose cost is not the same for every row, unless the
// batch has a meter, which is charged for all rows. The result has nil for a row that
// Eval has to be asked about.
func (p *Program) Rows(b *direct.Batch, meter *expr.Meter) []value.Value {
	if p.direct == nil || p.varies && b.Meter == nil {
		return nil
	}
	if b.Meter != nil && b.Meter.Spend(p.weight*uint64(b.Rows)) != nil {
		return nil
	}
	out := p.direct.Rows(b)
	if b.Meter != nil {
		b.Meter.Refund(p.weight*uint64(b.Rows-answered(out)), 0) // Eval charges the others
	}
	for i, v := range out {
		if _, truth := v.(types.Bool); truth { // of which there are most
			if meter.Built(1) != nil {
				out[i] = nil
			}
		} else if v != nil {
			out[i] = settled(v, meter)
		}
	}
	return out
}

// settled returns a result as a value; nil where it is more than allowed.
func settled(v ref.Val, meter *expr.Meter) value.Value {
	out, err := value.Settle(v)
	if err != nil || meter.Build(out) != nil {
		return nil
	}
	return out
}

// answered counts the rows that have an answer.
func answered(rows []value.Value) (n int) {
	for _, v := range rows {
		if v != nil {
			n++
		}
	}
	return n
}

// eval evaluates; only an expression with a loop needs a deadline, the rest is
// bounded by its length and its cost.
func (p *Program) eval(scope expr.Scope, meter *expr.Meter) (out ref.Val, err error) {
	if p.loops {
		out, _, err = p.prg.ContextEval(meter.Context(), scope)
	} else {
		out, _, err = p.prg.Eval(scope)
	}
	return out, err
}

func (p *Program) fail(err error) error {
	if inner, ok := errors.AsType[*expr.Failure](err); ok {
		return inner // a variable that this expression used has failed: its place says more
	}
	switch {
	case errors.Is(err, expr.ErrTime):
		err = expr.ErrTime
	case errors.Is(err, interpreter.InterruptError{}):
		err = expr.Stopped(context.Canceled)
	}
	return &expr.Failure{At: p.text.at(0), Err: plainError(err)}
}

// plainError words CEL's run-time errors for a person.
func plainError(err error) error {
	message := err.Error()
	if key, ok := strings.CutPrefix(message, "no such key: "); ok {
		return fmt.Errorf("the field or key %q is absent (read it with .? or [?...] where it may be)", key)
	}
	if text, hint := valueProblem(message); text != "" {
		return fmt.Errorf("%s; %s", text, hint)
	}
	if strings.Contains(message, "no such overload") {
		return fmt.Errorf("a value has another type than the expression expects (%s)", message)
	}
	return err
}

// ErrorValue makes a value that fails the expression that reads it; a scope
// gives it out for a variable that failed.
func ErrorValue(err error) ref.Val {
	if err == nil {
		return types.NullValue
	}
	return types.WrapErr(err)
}

// Mentions returns the names of one qualifier that a text uses, sorted: the x of
// every variables.x. It only parses the text, so it can be called before types
// are known; a text that does not parse mentions nothing.
func (e *Env) Mentions(text, qualifier string) []string {
	if len(text) > MaxExpression {
		return nil
	}
	parsed, issues := e.base().Parse(text)
	if len(issues.Errors()) > 0 {
		return nil
	}
	e.budget.keep(text, parsed)
	var out []string
	for name := range Names(parsed.NativeRep().Expr()) {
		if x, ok := cutQualifier(name, qualifier); ok {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// TemplateMentions is Mentions for all expressions of a template.
func (e *Env) TemplateMentions(n *document.Node, namespace string) (out []string) {
	if n == nil {
		return nil
	}
	if n.Kind == document.String {
		pieces, _ := split(n.Text)
		for _, p := range pieces {
			if p.code {
				out = append(out, e.Mentions(p.text, namespace)...)
			}
		}
	}
	for _, k := range n.Keys {
		out = append(out, e.TemplateMentions(k, namespace)...)
	}
	for _, v := range n.Values {
		out = append(out, e.TemplateMentions(v, namespace)...)
	}
	return out
}

// Is reports whether the expression is a name with field accesses, and which.
func (p *Program) Is(name string, fields ...string) bool {
	e := p.checked.NativeRep().Expr()
	for _, field := range slices.Backward(fields) {
		if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || e.AsSelect().FieldName() != field {
			return false
		}
		e = e.AsSelect().Operand()
	}
	return e.Kind() == ast.IdentKind && e.AsIdent() == name
}

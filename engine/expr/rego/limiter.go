package rego

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/expr"
)

// MaxSteps is how many steps an evaluation may take. The evaluator takes one for
// each expression that it tries, and for each piece of text that a function
// writes; a function of long numbers takes more.
const MaxSteps = 50_000

// stepCost is what a step costs in CEL units: an evaluation that takes all of
// its steps costs as much as the longest run of an expression.
const stepCost = expr.RunCost / MaxSteps

// errSteps reports that an evaluation took all of its steps.
var errSteps = fmt.Errorf("it takes more than %d steps: more than an evaluation of Rego may", MaxSteps)

// limiter counts the steps of one evaluation. The evaluator asks it before each
// of them whether somebody has cancelled the evaluation: that makes it the place
// to count, without the cost of a trace.
type limiter struct {
	ctx   context.Context
	steps int
	// why is set by the limit that is met.
	why error
}

var _ topdown.Cancel = (*limiter)(nil)

// Cancel implements topdown.Cancel; nobody calls it.
func (l *limiter) Cancel() {}

// Cancelled implements topdown.Cancel: it counts a step.
func (l *limiter) Cancelled() bool { return !l.take(1) }

// take adds steps, and reports whether the evaluation may continue. It checks the context at
// intervals.
func (l *limiter) take(steps int) bool {
	const glance = 64 // steps between two checks of the context
	if l.why != nil {
		return false
	}
	if l.steps += steps; l.steps > MaxSteps {
		l.why = errSteps
	} else if (l.steps-1)%glance < steps {
		l.why = l.ctx.Err()
	}
	return l.why == nil
}

// init wraps the functions of numbers, so that a call takes steps by the digits of its
// arguments: numbers have any length, and the time of a multiplication, or of a conversion
// from and to text, grows with up to the square of it.
func init() {
	for name := range strings.FieldsSeq(`plus minus mul div rem abs round ceil floor sum product
		bits.and bits.negate bits.or bits.rsh bits.xor format_int sprintf`) {
		f := topdown.GetBuiltin(name)
		ast.BuiltinMap[name].CanSkipBctx = false // it needs the limiter
		topdown.RegisterBuiltinFunc(name, func(c topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
			const squaresPerStep = 4_000_000
			n := digits(args...)
			if l, ok := c.Cancel.(*limiter); ok && n*n > squaresPerStep && !l.take(n*n/squaresPerStep) {
				return topdown.Halt{Err: &topdown.Error{Code: topdown.CancelErr, Message: name}}
			}
			return f(c, args, iter)
		})
	}
}

// digits returns the number of digits of all numbers in terms, arrays and sets, written
// without exponents, and at most a billion.
func digits(terms ...*ast.Term) (n int) {
	for _, t := range terms {
		switch v := t.Value.(type) {
		case ast.Number:
			text, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
			e, _ := strconv.ParseInt(exponent, 10, 32) // beyond 32 bits the end of the range
			n += len(text) + int(max(e, -e))
		case *ast.Array:
			v.Foreach(func(t *ast.Term) { n += digits(t) })
		case ast.Set:
			v.Foreach(func(t *ast.Term) { n += digits(t) })
		}
	}
	return min(n, 1_000_000_000)
}

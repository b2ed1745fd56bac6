package rego

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/expr"
)

// MaxSteps is how many steps an evaluation may take. The evaluator takes one for
// each expression that it tries, and for each piece of text that a function
// writes.
const MaxSteps = 50_000

// stepCost is what a step costs in CEL units: an evaluation that takes all of
// its steps costs as much as the longest run of an expression.
const stepCost = expr.RunCost / MaxSteps

// ErrLimit reports that an evaluation met one of its limits.
var ErrLimit = errors.New("more than an evaluation of Rego may")

// errSteps reports that an evaluation took all of its steps.
var errSteps = fmt.Errorf("it takes more than %d steps: %w", MaxSteps, ErrLimit)

// Late is the error of an evaluation that took more than some processor time.
type Late time.Duration

// Error implements error.
func (l Late) Error() string {
	return fmt.Sprintf("it took longer than %v of processor time; this is the last resort, above the count of steps: the machine is overloaded, or a function is given too much to work on", time.Duration(l))
}

// Is makes it a case of expr.ErrTime.
func (Late) Is(target error) bool { return target == expr.ErrTime }

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

// Cancelled implements topdown.Cancel: it counts a step, and looks at the clock
// now and then.
func (l *limiter) Cancelled() bool {
	const glance = 64 // steps between two looks at the clock
	if l.why != nil {
		return true
	}
	if l.steps++; l.steps > MaxSteps {
		l.why = errSteps
	} else if l.steps%glance == 1 {
		l.why = l.ctx.Err()
	}
	return l.why != nil
}

package expr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// Scope gives a program the values of the names it uses.
type Scope = interpreter.Activation

// Program is a compiled expression. It is immutable and safe for concurrent
// use; what it may read was fixed when it was compiled.
type Program interface {
	// Eval runs the program. The result is settled: immutable and within the
	// result limits. Errors carry the expression's place.
	Eval(scope Scope, meter *Meter) (value.Value, error)
}

// Limits of one expression run and of one evaluation, in CEL cost units (one
// unit is about the work of one field access).
const (
	// RunCost is what one run of one expression may cost: for one item, for
	// one candidate. The API server allows a validation rule the same.
	RunCost = 1_000_000
	// EvaluationCost is what all runs of one evaluation may cost, before the
	// share of its items is added.
	EvaluationCost = 10_000_000
	// ItemCost is added to the evaluation's budget for every item of a
	// declared collection, so that large worlds work and bombs do not.
	ItemCost = 5_000
	// EvaluationNodes is how many nodes all values that an evaluation builds may
	// have, before the share of its items is added; ItemNodes is that share.
	EvaluationNodes = 500_000
	ItemNodes       = 100
	// EvaluationTime is the longest that an evaluation may take. It is a last
	// resort, far above what the counted limits let through: a decision must not
	// depend on the load of the machine.
	EvaluationTime = 30 * time.Second
)

// ErrBudget reports that all expressions of an evaluation together cost more
// than they may.
var ErrBudget = errors.New("the evaluation costs more than its limit")

// ErrNodes reports that the values of an evaluation together are larger than
// they may be.
var ErrNodes = errors.New("the evaluation builds more than its limit")

// ErrTime reports that an evaluation was ended by the clock. Unlike the counted
// limits that depends on the machine: the key is tried again.
var ErrTime = fmt.Errorf("the evaluation was ended after %v; this is the last resort, above all counted limits: the machine is overloaded, or a function costs more than it is counted for", EvaluationTime)

// lessWork ends the errors of the limits that count all of an evaluation.
const lessWork = "; keep what is the same for several items in a variable of the policy, build less per item, or let the policy be about smaller objects"

// Exceeded reports that one run of an expression cost more than it may.
type Exceeded string

// Error implements error.
func (e Exceeded) Error() string { return string(e) }

// TooCostly says whether an evaluation failed because of what it costs.
func TooCostly(err error) bool {
	_, run := errors.AsType[Exceeded](err)
	return run || errors.Is(err, ErrBudget) || errors.Is(err, ErrNodes)
}

// Meter counts what an evaluation costs. It is used by one evaluation only.
type Meter struct {
	spent, budget uint64
	built, nodes  int
	parent        context.Context
	ctx           context.Context
	cancel        context.CancelFunc
}

// NewMeter starts a count for one evaluation.
func NewMeter(parent context.Context) *Meter {
	return &Meter{budget: EvaluationCost, nodes: EvaluationNodes, parent: parent}
}

// Grow adds the share of n more items to the budget.
func (m *Meter) Grow(n int) {
	m.budget += uint64(n) * ItemCost
	m.nodes += n * ItemNodes
}

// Build counts a value that an expression or a template has given.
func (m *Meter) Build(v value.Value) error {
	if m.built += value.Weight(v); m.built > m.nodes {
		return fmt.Errorf("%w of %d nodes%s", ErrNodes, m.nodes, lessWork)
	}
	return nil
}

// Spend counts a run's cost.
func (m *Meter) Spend(cost uint64) error {
	if m.spent += cost; m.spent > m.budget {
		return fmt.Errorf("%w of %d cost units%s", ErrBudget, m.budget, lessWork)
	}
	return nil
}

// Spent gives what was counted so far.
func (m *Meter) Spent() uint64 { return m.spent }

// Context returns a context that ends with the evaluation's parent, and after
// EvaluationTime with the cause ErrTime. It is made when the first run needs it.
func (m *Meter) Context() context.Context {
	if m.ctx == nil {
		m.ctx, m.cancel = context.WithTimeoutCause(m.parent, EvaluationTime, ErrTime)
	}
	return m.ctx
}

// Parent gives the context that the evaluation runs under.
func (m *Meter) Parent() context.Context { return m.parent }

// Close frees the timer.
func (m *Meter) Close() {
	if m.cancel != nil {
		m.cancel()
		m.ctx, m.cancel = nil, nil
	}
}

// Failure is an expression that failed at run time.
type Failure struct {
	// At is the expression's place in the policy.
	At document.Position
	// Err is what went wrong; it names fields and types, never values of
	// objects beyond keys.
	Err error
}

// Error gives file:line:col and the cause.
func (f *Failure) Error() string {
	if at := f.At.String(); at != "" {
		return at + ": " + f.Err.Error()
	}
	return f.Err.Error()
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Message returns the text of an error without the place in the policy: for
// readers who do not have the policy's text before them.
func Message(err error) string {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return err.Error()
	}
	return strings.Replace(err.Error(), f.Error(), f.Err.Error(), 1)
}

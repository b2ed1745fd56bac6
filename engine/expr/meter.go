package expr

import (
	"context"
	"fmt"

	"github.com/edict-dev/edict/engine/value"
)

// Meter counts what an evaluation costs, and refuses what would pass its
// limits. It is used by one evaluation only.
type Meter struct {
	limits        Limits
	spent, budget uint64
	built, nodes  int
	// bytes is what was allowed to be built so far.
	bytes int
	// run is the work of the expression under way that was charged ahead.
	run    uint64
	parent context.Context
	ctx    context.Context
	cancel context.CancelFunc
}

// Limits are what a meter starts with.
type Limits struct {
	// Run is what one run of an expression may cost, Cost all runs together, in
	// units; Most is the largest Cost that the share of items can add up to.
	Run, Cost, Most uint64
	// Nodes is how many nodes all values may have, before the share of the items.
	Nodes int
	// Text is the longest text that a call may build, Bytes what all calls and
	// templates may build together.
	Text, Bytes int
}

// EvaluationLimits are the limits of an evaluation.
func EvaluationLimits() Limits {
	return Limits{
		Run: RunCost, Cost: EvaluationCost, Most: MaxEvaluationCost,
		Nodes: EvaluationNodes, Text: TextBytes, Bytes: EvaluationBytes,
	}
}

// NewMeter starts a count for one evaluation. When parent is done, the
// evaluation ends with the next expression or function that it would run.
func NewMeter(parent context.Context) *Meter { return NewMeterWith(parent, EvaluationLimits()) }

// NewMeterWith starts a count with limits of its own.
func NewMeterWith(parent context.Context, limits Limits) *Meter {
	m := &Meter{}
	m.start(parent, limits)
	return m
}

// Start is NewMeter in memory that is there.
func (m *Meter) Start(parent context.Context) { m.start(parent, EvaluationLimits()) }

func (m *Meter) start(parent context.Context, limits Limits) {
	*m = Meter{limits: limits, budget: limits.Cost, nodes: limits.Nodes, parent: parent}
}

// Grow adds the share of n more items to the budget.
func (m *Meter) Grow(n int) {
	m.budget = max(m.limits.Cost, min(m.budget+uint64(n)*ItemCost, m.limits.Most))
	m.nodes = min(m.nodes+n*ItemNodes, MaxEvaluationNodes)
}

// Build counts a value that an expression or a template has given.
func (m *Meter) Build(v value.Value) error { return m.Built(value.Weight(v)) }

// Built counts values of so many nodes.
func (m *Meter) Built(nodes int) error {
	if m.built += nodes; m.built > m.nodes {
		return fmt.Errorf("%w of %d nodes%s", ErrNodes, m.nodes, lessWork)
	}
	return nil
}

// Spend counts a run's cost. It fails when the evaluation was cancelled.
func (m *Meter) Spend(cost uint64) error {
	if m.spent += cost; m.spent > m.budget {
		return fmt.Errorf("%w of %d cost units%s", ErrBudget, m.budget, lessWork)
	}
	return m.stopped()
}

// Spent returns what was counted so far.
func (m *Meter) Spent() uint64 { return m.spent }

// Allocated is how many bytes calls and templates were allowed to build.
func (m *Meter) Allocated() int { return m.bytes }

// Within reports whether the evaluation is within its limits and was not stopped, so that
// nothing has failed because of them.
func (m *Meter) Within() bool {
	return m.spent <= m.budget && m.built <= m.nodes && m.bytes <= m.limits.Bytes && m.parent.Err() == nil && (m.ctx == nil || m.ctx.Err() == nil)
}

// Begin starts a run of an expression, whose calls are charged ahead. The run
// ends with End, which takes what Begin returned.
func (m *Meter) Begin() (outer uint64) {
	outer, m.run = m.run, 0
	return outer
}

// End ends a run of an expression.
func (m *Meter) End(outer uint64) { m.run = outer }

// Charge asks whether a call may be made, before it is. If not, the error names
// the call, the limit and what to do, and the call must not be made.
func (m *Meter) Charge(call string, n Need) error {
	if n.Scratch > ScratchBytes && n.Text <= m.limits.Text {
		return fmt.Errorf("%s: %w of %d bytes for one call; give it less to work on", call, ErrScratch, ScratchBytes)
	}
	if err := m.Allocate(call, n.Text, n.Bytes); err != nil {
		return err
	}
	switch {
	case n.Work > m.limits.Run || m.run+n.Work > m.limits.Run:
		return fmt.Errorf("%s: %w", call, m.exceeded())
	case m.spent+n.Work > m.budget:
		m.spent = m.budget + 1
		return fmt.Errorf("%s: %w of %d cost units%s", call, ErrBudget, m.budget, lessWork)
	}
	m.run += n.Work
	m.spent += n.Work
	return m.stopped()
}

// Step counts a round of a loop.
func (m *Meter) Step(cost uint64) error {
	m.run += cost
	m.spent += cost
	switch {
	case m.run > m.limits.Run:
		return m.exceeded()
	case m.spent > m.budget:
		return fmt.Errorf("%w of %d cost units%s", ErrBudget, m.budget, lessWork)
	}
	return nil
}

func (m *Meter) exceeded() error {
	return Exceeded(fmt.Sprintf("the expression costs more than %d units; split it, or use a collection", m.limits.Run))
}

// Refund takes back what was charged for something that is going to be charged
// again.
func (m *Meter) Refund(cost uint64, bytes int) {
	m.spent -= cost
	m.bytes -= bytes
}

// Mark is what a meter has counted.
type Mark struct {
	spent        uint64
	built, bytes int
}

// Mark returns what was counted so far.
func (m *Meter) Mark() Mark { return Mark{m.spent, m.built, m.bytes} }

// Restore takes back what was counted since, for something that is going to be
// computed in another way.
func (m *Meter) Restore(to Mark) { m.spent, m.built, m.bytes = to.spent, to.built, to.bytes }

// Allocate is Charge for what needs no work beyond the bytes that it builds:
// text is the length of the longest text among them.
func (m *Meter) Allocate(call string, text, bytes int) error {
	if text > m.limits.Text {
		return fmt.Errorf("%s: %w of %d bytes, this would have %s; build shorter texts, or name fewer parts", call, ErrText, m.limits.Text, atLeast(text))
	}
	if m.bytes += min(max(text, bytes), m.limits.Bytes+1); m.bytes > m.limits.Bytes {
		m.bytes = m.limits.Bytes + 1
		return fmt.Errorf("%s: %w of %d bytes%s", call, ErrBytes, m.limits.Bytes, lessWork)
	}
	return nil
}

// atLeast words a size that may have been counted up to Uncounted only.
func atLeast(n int) string {
	if n >= Uncounted {
		return "far more"
	}
	return fmt.Sprint(n)
}

// stopped says that whoever asked for the evaluation does not want it any more.
func (m *Meter) stopped() error {
	if err := m.parent.Err(); err != nil {
		return Stopped(err)
	}
	return nil
}

// Stopped words that an evaluation ended because its context was done.
func Stopped(err error) error { return fmt.Errorf("the evaluation was stopped: %w", err) }

// Context returns a context that ends with the evaluation's parent, and after
// EvaluationTime with the cause ErrTime. It is made when the first run needs it.
func (m *Meter) Context() context.Context {
	if m.ctx == nil {
		m.ctx, m.cancel = context.WithTimeoutCause(m.parent, EvaluationTime, ErrTime)
	}
	return m.ctx
}

// Parent returns the context that the evaluation runs under.
func (m *Meter) Parent() context.Context { return m.parent }

// Close frees the timer.
func (m *Meter) Close() {
	if m.cancel != nil {
		m.cancel()
		m.ctx, m.cancel = nil, nil
	}
}

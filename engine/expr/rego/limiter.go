package rego

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Limits of one evaluation.
const (
	// MaxSteps is how many steps it may take. The evaluator takes one for each
	// expression that it tries; a function takes more when its arguments are
	// large.
	MaxSteps = 50_000
	// MaxNodes is how large one value on the way may be: what a rule gives,
	// what a function is given. A text counts one for each 32 bytes.
	MaxNodes = 250_000
	// MaxText is the longest text that a function may build, in bytes.
	MaxText = value.MaxResultBytes
	// MaxTime is how long it may take. Like expr.EvaluationTime it is a last
	// resort, but a shorter one: the evaluator has loops that cannot be counted,
	// and only one evaluation runs at a time.
	MaxTime = 5 * time.Second
	// maxBuilt is how many bytes all functions together may build.
	maxBuilt = 32 << 20
)

// stepCost is what a step costs in CEL units: an evaluation that takes all of
// its steps costs as much as the longest run of an expression.
const stepCost = expr.RunCost / MaxSteps

// ErrLimit says that an evaluation met one of its limits.
var ErrLimit = errors.New("more than an evaluation of Rego may")

// limiter counts what one evaluation does. The evaluator asks it before each
// expression whether somebody has cancelled the evaluation: that makes it the
// place to count, without the cost of a trace.
type limiter struct {
	ctx   context.Context
	steps int
	built int
	// look is at how many steps the clock is looked at again: functions take any
	// number of steps, so it must not depend on a certain one being met.
	look  int
	scale scale
	// why is set by the first limit that is met, at is where.
	why error
	at  *ast.Location
}

var _ topdown.Cancel = (*limiter)(nil)

// Cancel implements topdown.Cancel; nobody calls it.
func (l *limiter) Cancel() {}

// Cancelled implements topdown.Cancel: it counts a step.
func (l *limiter) Cancelled() bool {
	const glance = 64 // steps between two looks at the clock
	if l.steps >= l.look && l.why == nil {
		l.look = l.steps + glance
		if err := l.ctx.Err(); err != nil {
			l.why = late(err)
		}
	}
	l.work(1)
	return l.why != nil
}

func late(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("it took longer than %v: %w", MaxTime, expr.ErrTime)
	}
	return err
}

// work counts steps.
func (l *limiter) work(steps int) {
	if l.steps += steps; l.steps > MaxSteps {
		l.stop("it takes more than %d steps", MaxSteps)
	}
}

func (l *limiter) stop(format string, args ...any) {
	if l.why == nil {
		l.why = fmt.Errorf(format+": %w", append(args, ErrLimit)...)
	}
}

// text counts a text that a function is about to build.
func (l *limiter) text(bytes int) {
	if bytes > MaxText {
		l.stop("it builds a text of more than %d bytes", MaxText)
	}
	if l.built += bytes; l.built > maxBuilt {
		l.stop("it builds more than %d MiB of text", maxBuilt>>20)
	}
	l.work(bytes / bytesPerStep)
}

// bytesPerNode is how many bytes of a text weigh as much as a node, and how
// long a node is taken to be when it is written out.
const bytesPerNode = 32

// How much functions do in about the time of a step: bytes of text that they go
// through, items that they touch, nodes that they walk.
const (
	bytesPerStep = 512
	itemsPerStep = 64
	nodesPerStep = 8
)

// weigh counts a value that is about to be walked, and gives its weight.
func (l *limiter) weigh(t *ast.Term) int {
	weight := l.scale.weigh(t)
	if weight > MaxNodes {
		l.stop("it builds a value of more than %d nodes", MaxNodes)
	}
	return weight
}

// cache remembers what rules and functions gave, as the evaluator's own does,
// and weighs it on the way. Each rule can double what it is given, so a few
// lines could build a value that takes forever to compare or to write out.
type cache struct {
	topdown.VirtualCache
	limiter *limiter
}

// Get implements topdown.VirtualCache; ref holds a function's arguments.
func (c cache) Get(ref ast.Ref) (*ast.Term, bool) {
	for _, arg := range ref[1:] {
		c.weigh(arg)
	}
	return c.VirtualCache.Get(ref)
}

// Put implements topdown.VirtualCache.
func (c cache) Put(ref ast.Ref, t *ast.Term) {
	if t != nil {
		c.weigh(t)
	}
	c.VirtualCache.Put(ref, t)
}

func (c cache) weigh(t *ast.Term) {
	if ast.IsScalar(t.Value) {
		return
	}
	before := c.limiter.scale.visited
	c.limiter.weigh(t)
	c.limiter.work((c.limiter.scale.visited - before) / nodesPerStep)
}

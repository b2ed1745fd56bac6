package expr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/value"
)

// Limits of one expression run and of one evaluation, in CEL cost units (one
// unit is about the work of one field access), nodes and bytes.
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
	// MaxEvaluationCost is the largest budget that items can add up to.
	MaxEvaluationCost = 25_000_000
	// EvaluationNodes is how many nodes all values that an evaluation builds may
	// have, before the share of its items is added; ItemNodes is that share, and
	// MaxEvaluationNodes the most that it can add up to.
	EvaluationNodes    = 500_000
	ItemNodes          = 100
	MaxEvaluationNodes = 2_000_000
	// TextBytes is the longest text that a call may build on the way to a result;
	// a result may have value.MaxResultBytes.
	TextBytes = 4 << 20
	// EvaluationBytes is how many bytes the calls, templates and effects of one
	// evaluation may build. It does not grow with items: what memory there is
	// does not either.
	EvaluationBytes = 64 << 20
	// ScratchBytes is what one call may take while it runs, beside what it builds.
	ScratchBytes = 64 << 20
	// EvaluationTime is the longest that an evaluation may take. It is a last
	// resort, far above what the counted limits let through: a decision must not
	// depend on the load of the machine.
	EvaluationTime = 30 * time.Second
)

// Need is what a call is going to take, as far as its arguments tell.
type Need struct {
	// Work is what it costs, in units.
	Work uint64
	// Text is the length of the longest text that it builds, Bytes what it
	// builds altogether; neither counts what the arguments have already.
	Text, Bytes int
	// Scratch is what it takes beside that while it runs.
	Scratch int
}

// Uncounted is the size of what is larger than any limit: counting ends there.
const Uncounted = 1 << 40

// Linear is the need of a call that goes through its arguments once and builds
// no more than some bytes.
func Linear(bytes int) func(args []value.Value) Need {
	return func(args []value.Value) Need {
		size := 0
		for _, a := range args {
			size += value.Size(a)
		}
		return Need{Work: 1 + uint64(size+9)/10, Bytes: bytes}
	}
}

// Times multiplies two sizes; what is larger than any limit is Uncounted.
func Times(a, b int) int {
	if a > 0 && b > Uncounted/a {
		return Uncounted
	}
	return a * b
}

// Units is the cost of going through n things, of which a unit pays for so many.
func Units(n, perUnit int) uint64 { return uint64(max(0, n)+perUnit-1) / uint64(perUnit) }

// ErrBudget reports that all expressions of an evaluation together cost more
// than they may.
var ErrBudget = errors.New("the evaluation costs more than its limit")

// ErrNodes reports that the values of an evaluation together are larger than
// they may be.
var ErrNodes = errors.New("the evaluation builds more than its limit")

// ErrBytes is ErrNodes for bytes.
var ErrBytes = fmt.Errorf("%w", ErrNodes)

// ErrText reports that a text would be longer than it may be.
var ErrText = errors.New("it would build a text longer than the limit")

// ErrScratch reports that a call would take more memory than it may.
var ErrScratch = errors.New("it would take more memory than the limit")

// ErrTime reports that an evaluation was ended by the clock. Unlike the counted
// limits that depends on the machine: the key is tried again.
var ErrTime = fmt.Errorf("the evaluation was ended after %v; this is the last resort, above all counted limits: the machine is overloaded, or a function costs more than it is counted for", EvaluationTime)

// Late is the ErrTime of work that took more than some processor time.
type Late time.Duration

// Error implements error.
func (l Late) Error() string {
	return fmt.Sprintf("it took longer than %v of processor time; this is the last resort, above all counted limits: the machine is overloaded, or a function is given too much to work on", time.Duration(l))
}

// Is makes it a case of ErrTime.
func (Late) Is(target error) bool { return target == ErrTime }

// ErrMemory reports that a process was ended because it needed more memory than it may have.
var ErrMemory = errors.New("it needs more memory than it may have")

// Exhausted reports whether work was ended by its time or memory. Work that nobody waits for
// any more, or whose process others have ended, was not.
func Exhausted(err error) bool { return errors.Is(err, ErrTime) || errors.Is(err, ErrMemory) }

// Limiter does work within limits of time and memory. It is safe for concurrent use.
type Limiter interface {
	// Do answers a request. The error is ErrTime or ErrMemory if a limit was met,
	// ErrUnavailable if the limiter could not be asked, or the context's.
	Do(ctx context.Context, request []byte) ([]byte, error)
}

// Handler answers requests. As a Limiter it answers them in this process, without limits.
type Handler func(ctx context.Context, request []byte) []byte

// Do implements Limiter.
func (h Handler) Do(ctx context.Context, request []byte) ([]byte, error) {
	return h(ctx, request), ctx.Err()
}

// ErrUnavailable reports that something could not be asked which an evaluation
// needs and which is not of its making: the key is tried again.
var ErrUnavailable = errors.New("it cannot be asked at present")

// ErrNoAnswer reports that the answer of a builtin is not known where nothing may
// be asked. A decision that needs it is not made: nothing of it is written.
var ErrNoAnswer = errors.New("its answer is not known")

// lessWork ends the errors of the limits that count all of an evaluation.
const lessWork = "; keep what is the same for several items in a variable of the policy, build less per item, or let the policy be about smaller objects"

// Exceeded reports that one run of an expression cost more than it may.
type Exceeded string

// Error implements error.
func (e Exceeded) Error() string { return string(e) }

// TooCostly reports whether an evaluation failed because of what it costs.
func TooCostly(err error) bool {
	_, run := errors.AsType[Exceeded](err)
	return run || Spent(err) || errors.Is(err, ErrText) || errors.Is(err, ErrScratch)
}

// Spent reports whether an error says that nothing more of the evaluation can
// run: one of the budgets that count all of it is used up.
func Spent(err error) bool { return errors.Is(err, ErrBudget) || errors.Is(err, ErrNodes) }

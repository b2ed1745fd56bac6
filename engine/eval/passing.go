package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
)

// passing reports whether an error says nothing of what was read, so that the same may
// succeed the next time.
func passing(err error) bool {
	if err == nil {
		return false
	}
	_, called := errors.AsType[*selection.AskError](err)
	return called || errors.Is(err, errRejected) || errors.Is(err, expr.ErrTime) || errors.Is(err, expr.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// met notes an error that an expression has met, if it is a passing one.
func (ev *evaluation) met(err error) {
	if passing(err) {
		ev.passed = err
	}
}

// certain finds the members of an input. An object on which a condition fails is none, but
// after a passing error it is not known whether it is: then the input fails, so that
// nothing is removed that only could not be judged.
func (ev *evaluation) certain(in *plan.Input, find func()) error {
	outer := ev.passed
	ev.passed = nil
	find()
	err := ev.passed
	ev.passed = outer
	if err == nil {
		return nil
	}
	return &expr.Failure{At: in.Pos, Err: fmt.Errorf("which objects belong to the input %q cannot be said now: %w", in.Written(), err)}
}

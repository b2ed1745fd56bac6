package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// judgeTime is how much processor time the compilation of a text may take.
const judgeTime = 2 * time.Second

// Judge has new texts compiled in a process with limits before they are compiled in this
// one: a compiled policy does not cross processes.
type Judge struct {
	// texts have texts compiled, tests their tests run.
	texts, tests expr.Limiter
}

// judging is how long a text may take by the clock, with the wait for others.
const judging = 30 * time.Second

// NewJudge returns a Judge that asks the services of a Texts, which are given by name and by
// the processor time that a request may take.
func NewJudge(service func(name string, within time.Duration) expr.Limiter) *Judge {
	return &Judge{texts: service(judgeService, judgeTime), tests: service(testsService, testTime)}
}

// Accept returns why a text is not to be compiled in this process: a source.ErrLimit is the
// text's.
func (j *Judge) Accept(ctx context.Context, u *source.Unit, known *schema.Set) error {
	ctx, cancel := context.WithTimeout(ctx, judging)
	defer cancel()
	out, err := call(ctx, j.texts, known.Texts(), request{Policy: copyOf(u)})
	switch {
	case errors.Is(err, expr.ErrTime):
		return fmt.Errorf("its compilation takes more than %v of processor time; %w", judgeTime, source.ErrLimit)
	case errors.Is(err, expr.ErrMemory):
		return fmt.Errorf("its compilation is too large: %w; %w", err, source.ErrLimit)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("it was not compiled in %v; it is tried again: %w", judging, err)
	case err != nil:
		return fmt.Errorf("it cannot be compiled, and is tried again: %w", err)
	case out.Error != "":
		return errors.New(out.Error)
	}
	return nil
}

// test runs tests beside a policy; other texts are judged between two cases. An error that is
// not errTests comes from the process, not from the text.
func (j *Judge) test(ctx context.Context, known *schema.Set, r testRequest) (failed []document.Problem, err error) {
	for types := known.Texts(); ; {
		out, err := call(ctx, j.tests, types, request{Tests: &r})
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("%w: they took longer than %v", errTests, testTimeout)
		case expr.Exhausted(err):
			return nil, fmt.Errorf("%w: %w", errTests, err)
		case err != nil:
			return nil, err
		case out.Error != "":
			return nil, fmt.Errorf("%w: %s", errTests, out.Error)
		}
		failed = append(failed, out.Failed...)
		if r.Case = out.Next; r.Case == 0 || len(failed) >= policytest.MaxFailed {
			return failed, nil
		}
	}
}

// errTests reports that a text has tests which cannot be run.
var errTests = errors.New("the tests cannot be run")

package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// judgeTime is how much processor time the compilation of a text may take.
const judgeTime = 2 * time.Second

// Judge has new texts compiled in a process with limits before they are compiled in this
// one: a compiled policy does not cross processes. A nil Judge accepts every text.
type Judge struct {
	// types have the types read that texts are compiled by, texts the texts compiled, and
	// tests their tests run. Without texts every text is accepted.
	types, texts, tests expr.Limiter

	mu sync.Mutex
	// judged are the verdicts on texts, by digest.
	judged map[string]verdict
}

// verdict is the result for a text.
type verdict struct {
	// limit is the limit that the text exceeded; nil if it was compiled.
	limit error
	at    time.Time
}

const (
	// rejudged is how long a limit holds: the machine may have been starved.
	rejudged = 5 * time.Minute
	// judging is how long a text may take by the clock, with the wait for others.
	judging = 30 * time.Second
	// maxJudged is how many texts are remembered.
	maxJudged = 4096
)

// NewJudge returns a Judge that asks the services of a Texts, which are given by name and by
// the processor time that a request may take.
func NewJudge(service func(name string, within time.Duration) expr.Limiter) *Judge {
	return &Judge{types: service(typesService, judgeTime), texts: service(judgeService, judgeTime), tests: service(testsService, testTime), judged: map[string]verdict{}}
}

// newUnlimited returns a Judge that accepts every text, and runs tests in this process.
func newUnlimited() *Judge {
	services := Services()
	return &Judge{types: services[typesService], tests: services[testsService]}
}

// ErrLimit reports that a text met a limit of the process that compiles new texts.
var ErrLimit = errors.New("make its expressions and modules smaller, or split the policy")

// Compile compiles a policy by types, once another process has done so within its limits.
// Errors other than ErrLimit come from the process, not from the text.
func (j *Judge) Compile(ctx context.Context, u *source.Unit, known *schema.Set, in rego.Evaluator) (*plan.Policy, []document.Problem, error) {
	if err := j.accept(ctx, u, known); err != nil {
		return nil, nil, fmt.Errorf("the policy %s of %s is not loaded: %w", u.Name(), path.Dir(u.File.Path), err)
	}
	return u.Compile(known, in)
}

// accept returns why a text is not to be compiled in this process.
func (j *Judge) accept(ctx context.Context, u *source.Unit, of *schema.Set) error {
	if j == nil || j.texts == nil || len(u.Unread) > 0 {
		return nil
	}
	types, policy := of.Texts(), copyOf(u)
	text, err := json.Marshal(policy)
	if err != nil {
		return err
	}
	id := digest(append(slices.Clip(types), schema.Text{Text: string(text)}))
	j.mu.Lock()
	known, is := j.judged[id]
	j.mu.Unlock()
	if is && (known.limit == nil || time.Since(known.at) < rejudged) {
		return known.limit
	}
	ctx, cancel := context.WithTimeout(ctx, judging)
	defer cancel()
	limit, err := j.ask(ctx, types, policy)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.judged) >= maxJudged {
		clear(j.judged)
	}
	j.judged[id] = verdict{limit, time.Now()}
	return limit
}

// ask has the text compiled, once the types of it are read. The error comes from the process,
// not from the text.
func (j *Judge) ask(ctx context.Context, types []schema.Text, policy *policyCopy) (limit, err error) {
	out, err := call(ctx, j.texts, j.types, types, request{Policy: policy})
	switch {
	case errors.Is(err, expr.ErrTime):
		return fmt.Errorf("its compilation takes more than %v of processor time; %w", judgeTime, ErrLimit), nil
	case errors.Is(err, expr.ErrMemory):
		return fmt.Errorf("its compilation is too large: %w; %w", err, ErrLimit), nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("it was not compiled in %v; it is tried again: %w", judging, err)
	case err != nil:
		return nil, fmt.Errorf("it cannot be compiled, and is tried again: %w", err)
	case out.Error != "":
		return nil, errors.New(out.Error)
	}
	return nil, nil
}

// test runs tests beside a policy; other texts are judged between two cases. An error that is
// not errTests comes from the process, not from the text.
func (j *Judge) test(ctx context.Context, known *schema.Set, r testRequest) (failed []document.Problem, err error) {
	for types := known.Texts(); ; {
		out, err := call(ctx, j.tests, j.types, types, request{Tests: &r})
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

package rego

import (
	"context"
	"hash/crc32"
	"time"

	"github.com/edict-dev/edict/engine/expr"
)

// Service is the service that answers what a Remote asks: see Programs.Handle.
const Service = "rego"

// Remote is an Evaluator that has a limiter do the work.
type Remote struct {
	in expr.Limiter
	// lanes let one set of modules wait for the limiter once, whatever number of
	// objects are to be decided by it: those that take long leave room for others.
	lanes [16]chan struct{}
	// pauses are the modules that are not asked at present.
	pauses  *pauses
	refused func()
}

// NewRemote returns a Remote. Refused is called when a query fails without being asked,
// because the last one of its modules was ended; now tells the time then.
func NewRemote(in expr.Limiter, refused func(), now func() time.Time) *Remote {
	out := &Remote{in: in, pauses: newPauses(now), refused: refused}
	for i := range out.lanes {
		out.lanes[i] = make(chan struct{}, 1)
	}
	return out
}

// Do implements Evaluator. A query that was ended by its time or memory fails at once for a
// while, and so do all of its modules if others of them were ended, too. What modules
// compile to is always answered: it decides about a text until that is edited, and may not
// depend on when it was asked.
func (e *Remote) Do(ctx context.Context, r *Request) ([]byte, error) {
	if r.Query == nil {
		return e.Unpaused().Do(ctx, r)
	}
	if err := e.check(r); err != nil {
		return nil, err
	}
	leave, err := e.enter(ctx, r)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := e.check(r); err != nil { // the one before it in the lane was ended
		return nil, err
	}
	out, err := e.ask(ctx, r)
	e.pauses.note(r, err)
	return out, err
}

// check returns why a query may not be asked now.
func (e *Remote) check(r *Request) error {
	err := e.pauses.check(r)
	if err != nil {
		e.refused()
	}
	return err
}

// Unpaused is an evaluator with the same limiter, for tests of policies: a query
// that is ended has no consequence for others, and none of theirs for it, so that
// what comes of a test does not depend on what was asked before.
func (e *Remote) Unpaused() Evaluator { return unpaused{e} }

type unpaused struct{ *Remote }

// Do implements Evaluator.
func (u unpaused) Do(ctx context.Context, r *Request) ([]byte, error) {
	leave, err := u.enter(ctx, r)
	if err != nil {
		return nil, err
	}
	defer leave()
	return u.ask(ctx, r)
}

// enter waits until the lane of a request's modules is free, and returns a function that
// frees it.
func (e *Remote) enter(ctx context.Context, r *Request) (leave func(), err error) {
	lane := e.lanes[crc32.ChecksumIEEE([]byte(r.ID))%uint32(len(e.lanes))]
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask asks the limiter, with the modules if it lacks them: it may have dropped them.
func (e *Remote) ask(ctx context.Context, r *Request) ([]byte, error) {
	for _, whole := range []bool{r.Query == nil, true} {
		out, err := e.in.Do(ctx, r.encode(whole))
		if err != nil {
			return nil, err
		}
		if len(out) > 0 && out[0] == tagTrue {
			return out[1:], nil
		}
	}
	return nil, errMangled
}

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
type Remote struct{ In expr.Limiter }

// Do implements Evaluator. It asks with the modules if the limiter lacks them: it may have
// dropped them.
func (e Remote) Do(ctx context.Context, r *Request) ([]byte, error) {
	for _, whole := range []bool{r.Query == nil, true} {
		out, err := e.In.Do(ctx, r.encode(whole))
		if err != nil {
			return nil, err
		}
		if len(out) > 0 && out[0] == tagTrue {
			return out[1:], nil
		}
	}
	return nil, errMangled
}

// Pausing is a Remote for policies that run. A query that was ended by its time or memory
// fails at once for a while, and so do all of its modules if others of them were ended, too.
type Pausing struct {
	Remote

	// lanes let one set of modules wait for the limiter once, whatever number of
	// objects are to be decided by it: those that take long leave room for others.
	lanes [16]chan struct{}
	// pauses are the modules that are not asked at present.
	pauses  *pauses
	refused func()
}

// NewPausing returns a Pausing. Refused is called when a query fails without being asked,
// because the last one of its modules was ended; now tells the time then.
func NewPausing(in expr.Limiter, refused func(), now func() time.Time) *Pausing {
	out := &Pausing{Remote: Remote{in}, pauses: newPauses(now), refused: refused}
	for i := range out.lanes {
		out.lanes[i] = make(chan struct{}, 1)
	}
	return out
}

// Do implements Evaluator. What modules compile to is always answered: it decides about a text
// until that is edited, and may not depend on when it was asked.
func (e *Pausing) Do(ctx context.Context, r *Request) ([]byte, error) {
	if r.Query == nil {
		return e.Remote.Do(ctx, r)
	}
	if err := e.check(r); err != nil {
		return nil, err
	}
	lane := e.lanes[crc32.ChecksumIEEE([]byte(r.ID))%uint32(len(e.lanes))]
	select {
	case lane <- struct{}{}:
		defer func() { <-lane }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := e.check(r); err != nil { // the one before it in the lane was ended
		return nil, err
	}
	out, err := e.Remote.Do(ctx, r)
	e.pauses.note(r, err)
	return out, err
}

// check returns why a query may not be asked now.
func (e *Pausing) check(r *Request) error {
	err := e.pauses.check(r)
	if err != nil {
		e.refused()
	}
	return err
}

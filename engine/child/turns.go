package child

import (
	"context"
	"errors"
	"hash/crc32"

	"github.com/edict-dev/edict/engine/expr/rego"
)

// Do implements rego.Evaluator. Requests are answered one after the other. A query
// that was ended by its time or memory fails at once for a while, and so do all of its
// modules if others of them were ended, too. What modules compile to is always answered: it decides about a text until
// that is edited, and may not depend on when it was asked.
func (c *Child) Do(ctx context.Context, r *rego.Request) ([]byte, error) {
	if r.Query == nil {
		return c.Unpaused().Do(ctx, r)
	}
	if err := c.check(r); err != nil {
		return nil, err
	}
	leave, err := enter(ctx, c.lane(r.ID))
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := c.check(r); err != nil { // the one before it in the lane was ended
		return nil, err
	}
	out, err := c.ask(ctx, r)
	c.pauses.note(r, err)
	return out, err
}

// check returns why a query may not be asked now.
func (c *Child) check(r *rego.Request) error {
	err := c.pauses.check(r)
	if err != nil {
		c.options.Refused()
	}
	return err
}

// Unpaused is an evaluator with the same process, for tests of policies: a query
// that is ended has no consequence for others, and none of theirs for it, so that
// what comes of a test does not depend on what was asked before.
func (c *Child) Unpaused() rego.Evaluator { return unpaused{c} }

type unpaused struct{ *Child }

// Do implements rego.Evaluator.
func (u unpaused) Do(ctx context.Context, r *rego.Request) ([]byte, error) {
	leave, err := enter(ctx, u.lane(r.ID))
	if err != nil {
		return nil, err
	}
	defer leave()
	return u.ask(ctx, r)
}

// lane is the same for all requests of one set of modules.
func (c *Child) lane(id string) chan struct{} {
	return c.lanes[crc32.ChecksumIEEE([]byte(id))%uint32(len(c.lanes))]
}

// enter waits until a gate is free, and returns a function that frees it.
func enter(ctx context.Context, gate chan struct{}) (leave func(), err error) {
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask waits for the turn and asks the child, once more if it ended and had been
// asked before.
func (c *Child) ask(ctx context.Context, r *rego.Request) ([]byte, error) {
	leave, err := enter(ctx, c.turn)
	if err != nil {
		return nil, err
	}
	defer leave()
	if c.options.Idle > 0 {
		defer c.idle.Reset(c.options.Idle)
	}
	for {
		used := c.now != nil
		out, err := c.try(ctx, r)
		if err == nil {
			return out, nil
		}
		if _, ended := errors.AsType[*endedError](err); !ended || !used {
			return nil, err
		}
		// What came before may have brought the process close to its limit, or
		// somebody may have ended it: a new one tells whose fault it was.
	}
}

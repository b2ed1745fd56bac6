package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/expr"
)

// Options say what the child is.
type Options struct {
	// Process names it in errors.
	Process string
	// Command is the program and its arguments; it calls Serve.
	Command []string
	// Memory is what Serve is told, in bytes: it stands in the errors.
	Memory int64
	// Idle is after how long without a request the child is ended; 0 is never.
	Idle time.Duration
	// Started is called when a child has started, Ended when it has ended, with
	// the reason and more about it for the log. Either may be nil.
	Started func(pid int)
	Ended   func(pid int, reason Reason, detail string)
}

// Reason is why a child has ended.
type Reason string

// The reasons.
const (
	// Memory is that it needed more than it may have.
	Memory Reason = "memory"
	// Time is that a request took too long.
	Time Reason = "time"
	// Died is that it ended by itself, or somebody ended it.
	Died Reason = "died"
	// Stopped is that nobody wanted the answer any more, or the whole any more.
	Stopped Reason = "stopped"
)

// Child has one child process at a time, started by the first request.
type Child struct {
	options Options
	// turn is held by whoever uses what follows.
	turn   chan struct{}
	closed bool
	now    *process
	// idle ends the child after Options.Idle.
	idle *time.Timer
}

// New returns a Child. It has to be closed.
func New(o Options) *Child {
	if o.Started == nil {
		o.Started = func(int) {}
	}
	if o.Ended == nil {
		o.Ended = func(int, Reason, string) {}
	}
	c := &Child{options: o, turn: make(chan struct{}, 1)}
	c.idle = time.AfterFunc(time.Hour, c.rest)
	c.idle.Stop()
	return c
}

// Service returns a limiter that asks a service of the child. A request may take so much
// processor time.
func (c *Child) Service(name string, within time.Duration) expr.Limiter {
	return &service{c, name, within}
}

type service struct {
	child  *Child
	name   string
	within time.Duration
}

// Do implements expr.Limiter. Requests are answered one after the other.
func (s *service) Do(ctx context.Context, body []byte) ([]byte, error) {
	return s.child.ask(ctx, &request{s.name, body}, s.within)
}

// Close ends the child, and waits for its end. Requests fail from then on.
func (c *Child) Close() {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.closed = true
	c.idle.Stop()
	c.end(Stopped, "")
}

// rest ends the child, unless it is being asked.
func (c *Child) rest() {
	select {
	case c.turn <- struct{}{}:
		c.end(Stopped, "")
		<-c.turn
	default:
	}
}

// ask waits for the turn and asks the child, once more if it ended and had been
// asked before.
func (c *Child) ask(ctx context.Context, r *request, within time.Duration) ([]byte, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.options.Idle > 0 {
		defer c.idle.Reset(c.options.Idle)
	}
	for {
		used := c.now != nil
		out, err := c.try(ctx, r, within)
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

// try asks the child, which it starts if there is none. After an error there is
// none.
func (c *Child) try(ctx context.Context, r *request, within time.Duration) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.closed {
		return nil, fmt.Errorf("%w: %s is being stopped", expr.ErrUnavailable, c.options.Process)
	}
	if c.now == nil {
		p, err := start(c.options.Command)
		if err != nil {
			return nil, fmt.Errorf("%w: %s cannot be started: %w", expr.ErrUnavailable, c.options.Process, err)
		}
		c.now = p
		c.options.Started(p.pid())
	}
	out, err := c.now.ask(ctx, r, within)
	if err != nil {
		return nil, c.failed(ctx, err, within)
	}
	return out, nil
}

// endedError says that the child ended by itself; greedy is that it lacked memory.
type endedError struct {
	why    string
	greedy bool
}

// Error implements error.
func (e *endedError) Error() string { return e.why }

// Is makes it a case of expr.ErrMemory if the child lacked memory.
func (e *endedError) Is(target error) bool { return e.greedy && target == expr.ErrMemory }

// failed ends a child that did not answer, and says why it did not.
func (c *Child) failed(ctx context.Context, err error, within time.Duration) error {
	switch {
	case ctx.Err() != nil:
		c.end(Stopped, "")
		return ctx.Err()
	case isLate(err):
		c.end(Time, "")
		return expr.Late(within)
	}
	greedy, detail := c.now.epitaph()
	if greedy {
		c.end(Memory, detail)
		return &endedError{fmt.Sprintf("it needs more than the %d MiB of memory that %s may have", c.options.Memory>>20, c.options.Process), true}
	}
	c.end(Died, detail)
	return &endedError{fmt.Sprintf("%s ended (%s)", c.options.Process, detail), false}
}

// end ends the child, if there is one.
func (c *Child) end(reason Reason, detail string) {
	if c.now == nil {
		return
	}
	p := c.now
	c.now = nil
	p.kill()
	c.options.Ended(p.pid(), reason, detail)
}

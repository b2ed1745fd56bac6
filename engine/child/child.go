package child

import (
	"context"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
)

// Options say what the child is.
type Options struct {
	// Process names it in errors; "" is "the process that evaluates Rego".
	Process string
	// Command is the program and its arguments; it calls Serve.
	Command []string
	// Memory is what Serve is told, in bytes: it stands in the errors.
	Memory int64
	// Time is how much processor time a request may take; 0 is rego.MaxTime.
	Time time.Duration
	// Idle is after how long without a request the child is ended; 0 is never.
	Idle time.Duration
	// Started is called when a child has started, Ended when it has ended, with
	// the reason and more about it for the log. Either may be nil.
	Started func(pid int)
	Ended   func(pid int, reason Reason, detail string)
	// Refused is called when a query fails without being asked, because the last one of
	// its modules was ended. It may be nil, as may Now, which tells the time then.
	Refused func()
	Now     func() time.Time
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

// Child is an evaluator that has one child process at a time, started by the
// first request.
type Child struct {
	options Options
	// lanes let one set of modules wait for the turn once, whatever number of
	// objects are to be decided by it: those that take long leave room for others.
	lanes [16]chan struct{}
	// pauses are the modules that are not asked at present.
	pauses *pauses
	// turn is held by whoever uses what follows.
	turn   chan struct{}
	closed bool
	now    *process
	// idle ends the child after Options.Idle.
	idle *time.Timer
	// known are the modules that the process has.
	known map[string]bool
}

var _ rego.Evaluator = (*Child)(nil)

// New makes an evaluator. It has to be closed.
func New(o Options) *Child {
	if o.Process == "" {
		o.Process = "the process that evaluates Rego"
	}
	if o.Time == 0 {
		o.Time = rego.MaxTime
	}
	if o.Started == nil {
		o.Started = func(int) {}
	}
	if o.Ended == nil {
		o.Ended = func(int, Reason, string) {}
	}
	if o.Refused == nil {
		o.Refused = func() {}
	}
	c := &Child{options: o, pauses: newPauses(o.Now), turn: make(chan struct{}, 1)}
	for i := range c.lanes {
		c.lanes[i] = make(chan struct{}, 1)
	}
	c.idle = time.AfterFunc(time.Hour, c.rest)
	c.idle.Stop()
	return c
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

// try asks the child, which it starts if there is none. After an error there is
// none.
func (c *Child) try(ctx context.Context, r *rego.Request) ([]byte, error) {
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
		c.now, c.known = p, map[string]bool{}
		c.options.Started(p.pid())
	}
	out, err := c.now.ask(ctx, c.frame(r), c.options.Time)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	c.known[r.ID] = true
	return out, nil
}

// frame makes the request for a child: modules that it has are not sent again.
func (c *Child) frame(r *rego.Request) *request {
	out := &request{ID: r.ID, Query: r.Query, HasQuery: r.Query != nil}
	if c.known[r.ID] {
		return out
	}
	if len(c.known) >= rego.MaxPrograms {
		out.Reset = true
		clear(c.known)
	}
	for _, m := range r.Modules {
		out.Modules = append(out.Modules, module{m.Name, m.Text})
	}
	return out
}

// endedError says that the child ended by itself; greedy is that it lacked memory.
type endedError struct {
	why    string
	greedy bool
}

// Error implements error.
func (e *endedError) Error() string { return e.why }

// Is makes it a limit that was met.
func (*endedError) Is(target error) bool { return target == rego.ErrLimit }

// failed ends a child that did not answer, and says why it did not.
func (c *Child) failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		c.end(Stopped, "")
		return ctx.Err()
	case isLate(err):
		c.end(Time, "")
		return rego.Late(c.options.Time)
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

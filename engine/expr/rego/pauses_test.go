package rego

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
)

// clock is a time that only tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Unix(1_000_000_000, 0)} }

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

// What may become of a call.
var (
	errLate   = fmt.Errorf("data.p.x: %w", expr.Late(5*time.Second))
	errGreedy = greedyError{}
	errDied   = errors.New("the process ended (signal: killed)")
)

// greedyError is the error of a process that lacked memory.
type greedyError struct{}

// Error implements error.
func (greedyError) Error() string { return "it needs more than the 192 MiB" }

// Is makes it expr.ErrMemory.
func (greedyError) Is(target error) bool { return target == expr.ErrMemory }

// about is a request of some modules about an input.
func about(id, input string) *Request {
	return &Request{ID: id, Query: []byte(input)}
}

// call is a query about an input and what became of it.
type call struct {
	input string
	err   error
}

// TestPauses: how long a question about x and its modules are paused after each of some
// calls, which are made at the end of the pause before.
func TestPauses(t *testing.T) {
	t.Parallel()
	const s = time.Second
	x := func(errs ...error) (out []call) {
		for _, err := range errs {
			out = append(out, call{"x", err})
		}
		return out
	}
	for name, c := range map[string]struct {
		calls []call
		// want is how long x is not asked, others how long another question is not.
		want, others []time.Duration
	}{
		"time":   {x(errLate), []time.Duration{10 * s}, []time.Duration{0}},
		"memory": {x(errGreedy), []time.Duration{10 * s}, []time.Duration{0}},
		"in a row": {
			x(errLate, errGreedy, errLate, errLate, errLate, errLate, errLate),
			[]time.Duration{10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 300 * s, 300 * s}, make([]time.Duration, 7),
		},
		"success":           {x(errLate, errLate, nil, errLate), []time.Duration{10 * s, 20 * s, 0, 10 * s}, make([]time.Duration, 4)},
		"ended by another":  {x(errDied), []time.Duration{0}, []time.Duration{0}},
		"no longer wanted":  {x(context.Canceled), []time.Duration{0}, []time.Duration{0}},
		"not to be started": {x(expr.ErrUnavailable), []time.Duration{0}, []time.Duration{0}},
		"neither":           {x(errLate, errDied, errLate), []time.Duration{10 * s, 0, 20 * s}, make([]time.Duration, 3)},
		"two questions": {
			[]call{{"x", errLate}, {"y", errLate}, {"z", errLate}, {"x", errLate}},
			[]time.Duration{10 * s, 10 * s, 20 * s, 40 * s}, []time.Duration{0, 10 * s, 20 * s, 40 * s},
		},
		"two questions, an answer between": {
			[]call{{"x", errLate}, {"w", nil}, {"y", errLate}, {"w", nil}, {"x", errLate}},
			[]time.Duration{10 * s, 0, 0, 0, 20 * s}, make([]time.Duration, 5),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := newClock()
			p := newPauses(now.now)
			var got, others []time.Duration
			for _, one := range c.calls {
				p.note(about("a", one.input), one.err)
				other := pauseOf(p, now, about("a", "other"))
				others = append(others, other)
				got = append(got, other+pauseOf(p, now, about("a", "x")))
			}
			if diff := cmp.Diff([][]time.Duration{c.want, c.others}, [][]time.Duration{got, others}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// pauseOf lets the time pass to the end of a pause, and returns how long it was.
func pauseOf(p *pauses, now *clock, r *Request) time.Duration {
	start := now.now()
	for p.check(r) != nil {
		now.pass(time.Second)
	}
	return now.now().Sub(start)
}

// TestPauseSays: the error names the cause and the time, and is one that passes.
func TestPauseSays(t *testing.T) {
	t.Parallel()
	p := newPauses(newClock().now)
	var got []error
	for _, input := range []string{"x", "x", "y", "x"} {
		p.note(about("a", input), errGreedy)
		got = append(got, p.check(about("a", "x")))
	}
	const before = "it cannot be asked at present: "
	want := before + "it is not asked about this input again before 2001-09-09T01:46:50Z, because the last call had to be ended: it needs more than the 192 MiB\n" +
		before + "it is not asked about this input again before 2001-09-09T01:47:00Z, because the last 2 calls had to be ended: it needs more than the 192 MiB\n" +
		before + "its modules are not called again before 2001-09-09T01:46:50Z, because the last call had to be ended: it needs more than the 192 MiB\n" +
		before + "its modules are not called again before 2001-09-09T01:47:00Z, because the last 2 calls had to be ended: it needs more than the 192 MiB"
	if diff := cmp.Diff(want, errors.Join(got...).Error()); diff != "" || !errors.Is(got[0], expr.ErrUnavailable) || expr.Exhausted(got[0]) {
		t.Error(diff)
	}
	if err := p.check(about("b", "x")); err != nil {
		t.Errorf("other modules: %v", err)
	}
}

// TestPausesAreForgotten: what is no longer asked is dropped, and of too many the
// one whose pause ends first.
func TestPausesAreForgotten(t *testing.T) {
	t.Parallel()
	now := newClock()
	p := newPauses(now.now)
	for i := range maxPauses + 2 {
		p.note(about(fmt.Sprint(i), "x"), errLate)
		now.pass(time.Millisecond)
	}
	if len(p.of) != maxPauses || p.of["0"] != nil || p.of["1"] != nil || p.of["2"] == nil {
		t.Errorf("%d are kept, of them 0: %v, 2: %v", len(p.of), p.of["0"], p.of["2"])
	}
	now.pass(leastPause + mostPause)
	for i := range maxQuestions + 2 {
		p.note(about("a", fmt.Sprint(i)), errLate)
		now.pass(time.Millisecond)
	}
	if len(p.of) != 1 || len(p.of["a"].questions) != maxQuestions {
		t.Errorf("%d are kept after a while, with %d questions", len(p.of), len(p.of["a"].questions))
	}
}

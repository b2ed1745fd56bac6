package child

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/value"
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
	errLate   = fmt.Errorf("data.p.x: %w", rego.Late(5*time.Second))
	errGreedy = &endedError{"it needs more than the 192 MiB", true}
	errDied   = &endedError{"the process ended (signal: killed)", false}
)

// TestPauses: how long modules are paused after each of some calls, which are made
// at the end of the pause before.
func TestPauses(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		calls []error
		want  []time.Duration
	}{
		"time":              {[]error{errLate}, []time.Duration{10 * s}},
		"memory":            {[]error{errGreedy}, []time.Duration{10 * s}},
		"in a row":          {[]error{errLate, errGreedy, errLate, errLate, errLate, errLate, errLate}, []time.Duration{10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 300 * s, 300 * s}},
		"success":           {[]error{errLate, errLate, nil, errLate}, []time.Duration{10 * s, 20 * s, 0, 10 * s}},
		"ended by another":  {[]error{errDied}, []time.Duration{0}},
		"no longer wanted":  {[]error{context.Canceled}, []time.Duration{0}},
		"not to be started": {[]error{expr.ErrUnavailable}, []time.Duration{0}},
		"neither":           {[]error{errLate, errDied, errLate}, []time.Duration{10 * s, 0, 20 * s}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := newClock()
			p := newPauses(now.now)
			var got []time.Duration
			for _, err := range c.calls {
				p.note("a", err)
				got = append(got, passPause(p, now))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// passPause lets the time pass to the end of a pause, and returns how long it was.
func passPause(p *pauses, now *clock) time.Duration {
	start := now.now()
	for p.check("a") != nil {
		now.pass(time.Second)
	}
	return now.now().Sub(start)
}

// TestPauseSays: the error names the cause and the time, and is one that passes.
func TestPauseSays(t *testing.T) {
	t.Parallel()
	p := newPauses(newClock().now)
	p.note("a", errGreedy)
	once := p.check("a")
	p.note("a", errGreedy)
	twice := p.check("a")
	got := fmt.Sprintf("%v\n%v", once, twice)
	want := "it cannot be asked at present: its modules are not called again before 2001-09-09T01:46:50Z, because their last call had to be ended: it needs more than the 192 MiB\n" +
		"it cannot be asked at present: its modules are not called again before 2001-09-09T01:47:00Z, because their last 2 calls had to be ended: it needs more than the 192 MiB"
	if diff := cmp.Diff(want, got); diff != "" || !errors.Is(once, expr.ErrUnavailable) || errors.Is(once, rego.ErrLimit) {
		t.Error(diff)
	}
	if err := p.check("b"); err != nil {
		t.Errorf("other modules: %v", err)
	}
}

// TestPausesAreForgotten: what is no longer called is dropped, and of too many the
// one whose pause ends first.
func TestPausesAreForgotten(t *testing.T) {
	t.Parallel()
	now := newClock()
	p := newPauses(now.now)
	for i := range maxPauses + 2 {
		p.note(fmt.Sprint(i), errLate)
		now.pass(time.Millisecond)
	}
	if len(p.of) != maxPauses || p.of["0"] != nil || p.of["1"] != nil || p.of["2"] == nil {
		t.Errorf("%d are kept, of them 0: %v, 2: %v", len(p.of), p.of["0"], p.of["2"])
	}
	now.pass(leastPause + mostPause)
	p.note("a", errLate)
	if len(p.of) != 1 {
		t.Errorf("%d are kept after a while", len(p.of))
	}
}

// paused makes an evaluator with a clock, on which a query was ended by its time.
func paused(t *testing.T, o Options) (c *Child, bad *rego.Query, now *clock) {
	t.Helper()
	now = newClock()
	o.Time, o.Now = 500*time.Millisecond, now.now
	c = newChild(t, o)
	bad = query(t, c, endless)
	wantLate(t, bad)
	return c, bad, now
}

func wantLate(t *testing.T, bad *rego.Query) {
	t.Helper()
	if _, _, err := eval(t.Context(), bad, list(100)); !errors.Is(err, expr.ErrTime) {
		t.Errorf("it is to be ended by its time: %v", err)
	}
}

func wantPaused(t *testing.T, bad *rego.Query) {
	t.Helper()
	if _, _, err := eval(t.Context(), bad, list(0)); !errors.Is(err, expr.ErrUnavailable) || errors.Is(err, expr.ErrTime) {
		t.Errorf("it is to be paused: %v", err)
	}
}

func wantAnswer(t *testing.T, q *rego.Query) {
	t.Helper()
	if _, _, err := eval(t.Context(), q, list(0)); err != nil {
		t.Errorf("it is to be answered: %v", err)
	}
}

// TestPaused: after a query that was ended, others of its modules fail without a
// process; those of other modules are answered.
func TestPaused(t *testing.T) {
	t.Parallel()
	var s seen
	refused := 0
	o := s.options()
	o.Refused = func() { refused++ }
	c, bad, now := paused(t, o)
	wantPaused(t, bad)
	s.check(t, 1, Time)
	wantAnswer(t, query(t, c, "x := count(input)"))
	now.pass(leastPause)
	wantLate(t, bad)
	now.pass(leastPause)
	wantPaused(t, bad)
	now.pass(leastPause)
	wantAnswer(t, bad)
	wantAnswer(t, bad)
	if refused != 2 {
		t.Errorf("%d were refused", refused)
	}
}

// TestNotPaused: what modules compile to, and what comes of tests, does not depend
// on what was evaluated before; nor does the reverse.
func TestNotPaused(t *testing.T) {
	t.Parallel()
	c, bad, now := paused(t, Options{})
	query(t, c, endless)
	test := query(t, c.Unpaused(), endless)
	wantAnswer(t, test)
	wantPaused(t, bad) // the answer of the test did not end the pause
	now.pass(leastPause)
	wantLate(t, test)
	wantAnswer(t, bad)
}

// TestPausedAtOnce: of many queries of the same modules one is ended, and those that
// wait for it fail with it.
func TestPausedAtOnce(t *testing.T) {
	t.Parallel()
	var s seen
	o := s.options()
	o.Time, o.Now = 500*time.Millisecond, newClock().now
	bad := query(t, newChild(t, o), endless)
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, _, errs[i] = eval(t.Context(), bad, list(100)) })
	}
	wg.Wait()
	count := map[bool]int{}
	for _, err := range errs {
		count[errors.Is(err, expr.ErrTime)]++
	}
	if diff := cmp.Diff(map[bool]int{true: 1, false: 19}, count); diff != "" {
		t.Error(diff, errs)
	}
	s.check(t, 1, Time)
}

// TestPausedByMemory: a query that lacks memory in a process of its own pauses its
// modules.
func TestPausedByMemory(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("the race detector maps more than any limit")
	}
	c := newChild(t, Options{Memory: testMemory, Now: newClock().now})
	bad := query(t, c, `f(a) := array.concat(a, array.concat(a, a))
x := count(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(input)))))))))))))))))))`)
	if _, _, err := eval(t.Context(), bad, list(100)); !errors.Is(err, rego.ErrLimit) {
		t.Errorf("%v", err)
	}
	if _, _, err := eval(t.Context(), bad, value.Null); !errors.Is(err, expr.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

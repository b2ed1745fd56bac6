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

// about is a request of some modules about an input.
func about(id, input string) *rego.Request {
	return &rego.Request{ID: id, Query: []byte(input)}
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
func pauseOf(p *pauses, now *clock, r *rego.Request) time.Duration {
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
	if diff := cmp.Diff(want, errors.Join(got...).Error()); diff != "" || !errors.Is(got[0], expr.ErrUnavailable) || errors.Is(got[0], rego.ErrLimit) {
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

// TestQuestion: a question is the same at another time, and another one about another input.
func TestQuestion(t *testing.T) {
	t.Parallel()
	var asked []string
	q := query(t, noting{&asked}, endless)
	for i, input := range []value.Value{list(1), list(1), list(2)} {
		_, _ = q.Eval(t.Context(), expr.NewMeter(t.Context()), time.Unix(int64(i), 0), input) // nobody answers
	}
	if len(asked) != 3 || asked[0] != asked[1] || asked[1] == asked[2] {
		t.Errorf("%q", asked)
	}
}

// noting notes what is asked, and answers what modules compile to only.
type noting struct{ asked *[]string }

// Do implements rego.Evaluator.
func (n noting) Do(ctx context.Context, r *rego.Request) ([]byte, error) {
	if r.Query == nil {
		return rego.Local().Do(ctx, r)
	}
	*n.asked = append(*n.asked, r.Question())
	return nil, expr.ErrUnavailable
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
	if _, _, err := eval(t.Context(), bad, list(100)); !errors.Is(err, expr.ErrUnavailable) || errors.Is(err, expr.ErrTime) {
		t.Errorf("it is to be paused: %v", err)
	}
}

func wantAnswer(t *testing.T, q *rego.Query) {
	t.Helper()
	if _, _, err := eval(t.Context(), q, list(0)); err != nil {
		t.Errorf("it is to be answered: %v", err)
	}
}

// TestPaused: after a query that was ended, the same fails without a process; those about
// other inputs are answered, until another one of them was ended as well.
func TestPaused(t *testing.T) {
	t.Parallel()
	var s seen
	refused := 0
	o := s.options()
	o.Refused = func() { refused++ }
	c, bad, now := paused(t, o)
	wantPaused(t, bad)
	s.check(t, 1, Time)
	wantAnswer(t, bad)
	now.pass(leastPause)
	wantLate(t, bad)
	if _, _, err := eval(t.Context(), bad, list(101)); !errors.Is(err, expr.ErrTime) {
		t.Errorf("another is to be ended by its time: %v", err)
	}
	if _, _, err := eval(t.Context(), bad, list(0)); !errors.Is(err, expr.ErrUnavailable) {
		t.Errorf("the modules are to be paused: %v", err)
	}
	wantAnswer(t, query(t, c, "x := count(input)"))
	now.pass(leastPause)
	wantPaused(t, bad)
	wantAnswer(t, bad)
	if refused != 3 {
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
	wantLate(t, bad) // nor did the end of the test begin one
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
	if _, _, err := eval(t.Context(), bad, list(100)); !errors.Is(err, expr.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

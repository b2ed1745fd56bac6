package rego_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/race"
)

const testMemory = 192 << 20

// TestMain is the process that evaluates Rego, too: this binary itself, asked to serve.
func TestMain(m *testing.M) {
	if len(os.Args) != 3 || os.Args[1] != "serve" {
		goleak.VerifyTestMain(m)
		return
	}
	memory, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err == nil {
		err = child.Serve(os.Stdin, os.Stdout, memory, map[string]expr.Handler{rego.Service: (&rego.Programs{}).Handle})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// seen notes what becomes of processes with so much memory, or any number of bytes.
type seen struct {
	memory int64

	mu      sync.Mutex
	pids    []int
	ends    []child.Reason
	refused int
}

func (s *seen) refuse() { s.mu.Lock(); defer s.mu.Unlock(); s.refused++ }

// last is the process that was started last.
func (s *seen) last() int { s.mu.Lock(); defer s.mu.Unlock(); return s.pids[len(s.pids)-1] }

func (s *seen) check(t *testing.T, starts int, ends ...child.Reason) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pids) != starts || !slices.Equal(s.ends, ends) {
		t.Errorf("%d starts, ends by %v; want %d, %v", len(s.pids), s.ends, starts, ends)
	}
}

// newRemote makes an evaluator whose process is this binary. Without a clock it has the
// system's.
func newRemote(t testing.TB, s *seen, within time.Duration, c *clock) *rego.Pausing {
	t.Helper()
	process := child.New(child.Options{
		Process: "the process that evaluates Rego", Command: []string{os.Args[0], "serve", strconv.FormatInt(s.memory, 10)}, Memory: s.memory,
		Started: func(pid int) { s.mu.Lock(); defer s.mu.Unlock(); s.pids = append(s.pids, pid) },
		Ended:   func(_ int, r child.Reason, _ string) { s.mu.Lock(); defer s.mu.Unlock(); s.ends = append(s.ends, r) },
	})
	t.Cleanup(process.Close)
	now := time.Now
	if c != nil {
		now = c.now
	}
	return rego.NewPausing(process.Service(rego.Service, within), s.refuse, now)
}

// query compiles rules of a package p and asks for data.p.x.
func query(t testing.TB, in rego.Evaluator, rules string) *rego.Query {
	t.Helper()
	library, problems, _ := rego.Compile(in, []rego.Module{{Name: "p.rego", Text: "package p\n" + rules}})
	if library == nil {
		t.Fatal(problems)
	}
	q, problem := library.Query("data.p.x", document.Position{File: "policy.yaml"})
	if problem != nil {
		t.Fatal(problem)
	}
	return q
}

func eval(ctx context.Context, q *rego.Query, input value.Value) (value.Value, uint64, error) {
	m := expr.NewMeter(ctx)
	v, err := q.Eval(ctx, m, time.Unix(0, 0), input)
	return v, m.Spent(), err
}

func list(n int) value.Value {
	items := make([]value.Value, n)
	for i := range items {
		items[i] = value.OfInt(int64(i))
	}
	return value.NewList(items)
}

// endless is a rule whose one step takes minutes.
const endless = `x := regex.match("(a?){500}a{900}b", concat("", ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" | some a in input; some b in [1, 2, 3, 4, 5, 6]]))`

// TestAgrees: both evaluators give the same values, errors and costs; what takes
// too many steps does so at the same step.
func TestAgrees(t *testing.T) {
	t.Parallel()
	there := newRemote(t, &seen{}, rego.MaxTime, nil)
	for _, rules := range []string{
		"x := [i | some i in input; i % 2 == 0]", `x := {"a": {3, 1, 2}, "b": null, "c": 1.5}`, "x if input.missing", "x := 1 / (input[0] - 0)",
		"x := count([1 | some a in input; some b in input; a < b])", "x := {1: 2}", `x := concat("", [sprintf("%v", [i]) | some i in input])`,
		"x := {k: v | some k, v in input}", "x := count([1 | some a in input; some b in input; some c in input])", "x := input",
	} {
		for _, n := range []int{0, 3, 150, 400} {
			a, costA, errA := eval(t.Context(), query(t, rego.Local(), rules), list(n))
			b, costB, errB := eval(t.Context(), query(t, there, rules), list(n))
			got, want := fmt.Sprint(plain(b), costB, errB), fmt.Sprint(plain(a), costA, errA)
			if got != want {
				t.Errorf("%s of %d: %s", rules, n, cmp.Diff(want, got))
			}
		}
	}
}

func plain(v value.Value) any {
	if v == nil {
		return nil
	}
	return value.Plain(v)
}

// TestProblemsAgree: what does not compile does not for the same reason, and
// tests fail at the same line.
func TestProblemsAgree(t *testing.T) {
	t.Parallel()
	there := newRemote(t, &seen{}, rego.MaxTime, nil)
	modules := []rego.Module{
		{Name: "p.rego", Text: "package p\nx := lowr(1)\ny := z"},
		{Name: "p_test.rego", Text: "package p_test\ntest_a if 1 == 2\ntest_b if {\n\tcount([]) == 0\n\tcount([1]) == 2\n}\ntest_c if true"},
	}
	_, a, _ := rego.Compile(rego.Local(), modules)
	_, b, _ := rego.Compile(there, modules)
	if diff := cmp.Diff(a, b); diff != "" || len(a) == 0 {
		t.Error(diff, a)
	}
	tests := func(in rego.Evaluator) []rego.TestResult {
		out, _ := rego.RunTests(t.Context(), in, modules[1:])
		for i := range out {
			out[i].Duration = 0
		}
		return out
	}
	if diff := cmp.Diff(tests(rego.Local()), tests(there)); diff != "" || len(tests(there)) != 3 {
		t.Error(diff)
	}
}

// TestManyPrograms: modules that were dropped are sent again.
func TestManyPrograms(t *testing.T) {
	t.Parallel()
	var s seen
	c := newRemote(t, &s, rego.MaxTime, nil)
	var queries []*rego.Query
	for i := range rego.MaxPrograms + 10 {
		queries = append(queries, query(t, c, fmt.Sprintf("x := %d", i)))
	}
	for i, q := range queries {
		if v, _, err := eval(t.Context(), q, value.Null); err != nil || v != value.OfInt(int64(i)) {
			t.Errorf("%d: %v, %v", i, v, err)
		}
	}
	s.check(t, 1)
}

// TestAtOnce asks from many sides.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	c := newRemote(t, &seen{}, rego.MaxTime, nil)
	q := query(t, c, "x := count(input)")
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			for range 20 {
				if v, _, err := eval(t.Context(), q, list(n)); err != nil || v != value.OfInt(int64(n)) {
					t.Errorf("%v, %v", v, err)
				}
			}
		})
	}
	wg.Wait()
}

// clock is a time that only tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Unix(1_000_000_000, 0)} }

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

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

// Do implements Evaluator.
func (n noting) Do(ctx context.Context, r *rego.Request) ([]byte, error) {
	if r.Query == nil {
		return rego.Local().Do(ctx, r)
	}
	*n.asked = append(*n.asked, r.Question())
	return nil, expr.ErrUnavailable
}

// paused makes an evaluator with a clock, on which a query was ended by its time.
func paused(t *testing.T, s *seen) (e *rego.Pausing, bad *rego.Query, now *clock) {
	t.Helper()
	now = newClock()
	e = newRemote(t, s, 500*time.Millisecond, now)
	bad = query(t, e, endless)
	wantLate(t, bad)
	return e, bad, now
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
	c, bad, now := paused(t, &s)
	wantPaused(t, bad)
	s.check(t, 1, child.Time)
	wantAnswer(t, bad)
	now.pass(10 * time.Second)
	wantLate(t, bad)
	if _, _, err := eval(t.Context(), bad, list(101)); !errors.Is(err, expr.ErrTime) {
		t.Errorf("another is to be ended by its time: %v", err)
	}
	if _, _, err := eval(t.Context(), bad, list(0)); !errors.Is(err, expr.ErrUnavailable) {
		t.Errorf("the modules are to be paused: %v", err)
	}
	wantAnswer(t, query(t, c, "x := count(input)"))
	now.pass(10 * time.Second)
	wantPaused(t, bad)
	wantAnswer(t, bad)
	if s.refused != 3 {
		t.Errorf("%d were refused", s.refused)
	}
}

// TestNotPaused: what modules compile to, and what comes of tests, does not depend
// on what was evaluated before; nor does the reverse.
func TestNotPaused(t *testing.T) {
	t.Parallel()
	c, bad, now := paused(t, &seen{})
	query(t, c, endless)
	test := query(t, c.Remote, endless)
	wantAnswer(t, test)
	wantPaused(t, bad) // the answer of the test did not end the pause
	now.pass(10 * time.Second)
	wantLate(t, test)
	wantLate(t, bad) // nor did the end of the test begin one
}

// TestPausedAtOnce: of many queries of the same modules one is ended, and those that
// wait for it fail with it.
func TestPausedAtOnce(t *testing.T) {
	t.Parallel()
	var s seen
	bad := query(t, newRemote(t, &s, 500*time.Millisecond, newClock()), endless)
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
	s.check(t, 1, child.Time)
}

// TestPausedByMemory: a query that lacks memory in a process of its own pauses its
// modules.
func TestPausedByMemory(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the race detector maps more than any limit")
	}
	c := newRemote(t, &seen{memory: testMemory}, rego.MaxTime, newClock())
	bad := query(t, c, `f(a) := array.concat(a, array.concat(a, a))
x := count(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(input)))))))))))))))))))`)
	if _, _, err := eval(t.Context(), bad, list(100)); !errors.Is(err, expr.ErrMemory) {
		t.Errorf("%v", err)
	}
	if _, _, err := eval(t.Context(), bad, list(100)); !errors.Is(err, expr.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

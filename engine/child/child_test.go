package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/value"
)

// seen notes what a child's observer is told.
type seen struct {
	mu   sync.Mutex
	pids []int
	ends []Reason
}

func (s *seen) options() Options {
	return Options{
		Started: func(pid int) { s.mu.Lock(); defer s.mu.Unlock(); s.pids = append(s.pids, pid) },
		Ended:   func(_ int, r Reason, _ string) { s.mu.Lock(); defer s.mu.Unlock(); s.ends = append(s.ends, r) },
	}
}

// last is the process that was started last.
func (s *seen) last() int { s.mu.Lock(); defer s.mu.Unlock(); return s.pids[len(s.pids)-1] }

func (s *seen) check(t *testing.T, starts int, ends ...Reason) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pids) != starts || !slices.Equal(s.ends, ends) {
		t.Errorf("%d starts, ends by %v; want %d, %v", len(s.pids), s.ends, starts, ends)
	}
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
	there := newChild(t, Options{})
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
	there := newChild(t, Options{})
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

// TestLazy: without a request there is no process, and none is left behind.
func TestLazy(t *testing.T) {
	t.Parallel()
	var s seen
	c := newChild(t, s.options())
	s.check(t, 0)
	query(t, c, "x := 1")
	s.check(t, 1)
	c.Close()
	s.check(t, 1, Stopped)
	if err := syscall.Kill(s.last(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
	if _, _, err := eval(t.Context(), query(t, rego.Local(), "x := 1"), value.Null); err != nil {
		t.Error(err)
	}
	if _, err := c.Do(t.Context(), &rego.Request{}); !errors.Is(err, expr.ErrUnavailable) {
		t.Errorf("closed: %v", err)
	}
}

// TestIdle: a process without requests is ended, and the next request starts another.
func TestIdle(t *testing.T) {
	t.Parallel()
	ended := make(chan Reason, 1)
	c := newChild(t, Options{Idle: time.Millisecond, Ended: func(_ int, r Reason, _ string) { ended <- r }})
	for range 2 {
		query(t, c, "x := 1")
		if got := <-ended; got != Stopped {
			t.Errorf("it ended by %s", got)
		}
	}
}

// TestTooLate: what takes too long is ended, and others go on.
func TestTooLate(t *testing.T) {
	t.Parallel()
	var s seen
	o, now := s.options(), newClock()
	o.Time, o.Now = 500*time.Millisecond, now.now
	c := newChild(t, o)
	good, bad := query(t, c, "x := count(input)"), query(t, c, endless)
	for range 2 {
		if _, _, err := eval(t.Context(), bad, list(100)); !errors.Is(err, expr.ErrTime) || !strings.Contains(err.Error(), "it took longer than 500ms") {
			t.Errorf("%v", err)
		}
		if v, _, err := eval(t.Context(), good, list(3)); err != nil || v != value.OfInt(3) {
			t.Errorf("%v, %v", v, err)
		}
		now.pass(leastPause)
	}
	s.check(t, 3, Time, Time)
}

// TestNobodyWaits: when the evaluation is no longer wanted, the process is not
// waited for.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	var s seen
	o := s.options()
	o.Time = time.Hour
	c := newChild(t, o)
	bad := query(t, c, endless)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, _, err := eval(ctx, bad, list(100)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.check(t, 1, Stopped)
}

// TestKilledByAnother: an evaluation is not to blame for the end of a process
// that others end; it is asked again, once.
func TestKilledByAnother(t *testing.T) {
	t.Parallel()
	var s seen
	c := newChild(t, s.options())
	q := query(t, c, "x := count(input)")
	if err := syscall.Kill(s.last(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if v, _, err := eval(t.Context(), q, list(3)); err != nil || v != value.OfInt(3) {
		t.Errorf("%v, %v", v, err)
	}
	s.check(t, 2, Died)
}

// TestNoProgram: what cannot be started is no fault of a policy.
func TestNoProgram(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"/nothing/there"}, {"/bin/false"}} {
		c := New(Options{Command: command})
		_, err := c.Do(t.Context(), &rego.Request{})
		if want := command[0] == "/nothing/there"; errors.Is(err, expr.ErrUnavailable) != want || errors.Is(err, rego.ErrLimit) == want {
			t.Errorf("%v: %v", command, err)
		}
		c.Close()
	}
}

// TestManyPrograms: modules that were dropped are sent again.
func TestManyPrograms(t *testing.T) {
	t.Parallel()
	var s seen
	c := newChild(t, s.options())
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
	c := newChild(t, Options{})
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

// TestWhatItHas: the process has no environment, and the limits that it should.
func TestWhatItHas(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("the race detector maps more than any limit")
	}
	var s seen
	o := s.options()
	o.Memory = testMemory
	c := newChild(t, o)
	query(t, c, "x := 1")
	read := func(file string) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.last(), file))
		if err != nil {
			t.Skip("this system does not tell: ", err)
		}
		return string(text)
	}
	if env := read("environ"); env != "" {
		t.Errorf("environment: %q", env)
	}
	want := []string{"Max data size", fmt.Sprint(testMemory), fmt.Sprint(testMemory), "bytes"}
	found := false
	for line := range strings.Lines(read("limits")) {
		found = found || slices.Equal(strings.Fields(line)[3:], want[1:]) && strings.HasPrefix(line, want[0])
	}
	if !found {
		t.Error(read("limits"))
	}
}

// TestOrphans: when the process that evaluations are for is killed, the one that
// evaluates ends, even in the middle of a step.
func TestOrphans(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0], "parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for !gone(pid) {
		if t.Context().Err() != nil {
			t.Fatal("it still runs")
		}
		<-time.After(10 * time.Millisecond)
	}
}

// gone reports whether a process has ended, whoever is to wait for it.
func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

// asParent asks something endless, and prints the pid of who has to answer.
func asParent() {
	c := New(Options{Command: []string{os.Args[0], "serve", "0"}, Time: time.Hour, Started: func(pid int) { fmt.Fprintln(os.Stdout, pid) }})
	library, _, _ := rego.Compile(c, []rego.Module{{Name: "p.rego", Text: "package p\n" + endless}})
	q, _ := library.Query("data.p.x", document.Position{})
	_, _, err := eval(context.Background(), q, list(100))
	fmt.Fprintln(os.Stdout, err)
}

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

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/test/race"
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

// TestLazy: without a request there is no process, and none is left behind.
func TestLazy(t *testing.T) {
	t.Parallel()
	var s seen
	c := newChild(t, s.options())
	s.check(t, 0)
	wantEcho(t, echo(c), "a")
	s.check(t, 1)
	c.Close()
	s.check(t, 1, Stopped)
	if err := syscall.Kill(s.last(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
	if _, err := echo(c).Do(t.Context(), nil); !errors.Is(err, expr.ErrUnavailable) {
		t.Errorf("closed: %v", err)
	}
}

// TestIdle: a process without requests is ended, and the next request starts another.
func TestIdle(t *testing.T) {
	t.Parallel()
	ended := make(chan Reason, 1)
	c := newChild(t, Options{Idle: time.Millisecond, Ended: func(_ int, r Reason, _ string) { ended <- r }})
	for range 2 {
		wantEcho(t, echo(c), "a")
		if got := <-ended; got != Stopped {
			t.Errorf("it ended by %s", got)
		}
	}
}

// TestTooLate: what takes too long is ended, and others go on.
func TestTooLate(t *testing.T) {
	t.Parallel()
	var s seen
	c := newChild(t, s.options())
	for range 2 {
		if _, err := c.Service("loop", 500*time.Millisecond).Do(t.Context(), nil); !expr.Exhausted(err) || !strings.Contains(err.Error(), "it took longer than 500ms") {
			t.Errorf("%v", err)
		}
		wantEcho(t, echo(c), "a")
	}
	s.check(t, 3, Time, Time)
}

// TestTooLarge: what takes too much memory is ended, and others go on.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the race detector maps more than any limit")
	}
	var s seen
	o := s.options()
	o.Memory = testMemory
	c := newChild(t, o)
	if _, err := c.Service("allocate", time.Minute).Do(t.Context(), nil); !errors.Is(err, expr.ErrMemory) || !expr.Exhausted(err) || err.Error() != "it needs more than the 192 MiB of memory that the process of the test may have" {
		t.Errorf("%v", err)
	}
	wantEcho(t, echo(c), "a")
	s.check(t, 2, Memory)
}

// TestNobodyWaits: when the answer is no longer wanted, the process is not waited for.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	var s seen
	c := newChild(t, s.options())
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := c.Service("loop", time.Hour).Do(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.check(t, 1, Stopped)
}

// TestKilledByAnother: a request is not to blame for the end of a process that others end;
// it is asked again, once.
func TestKilledByAnother(t *testing.T) {
	t.Parallel()
	var s seen
	c := newChild(t, s.options())
	wantEcho(t, echo(c), "a")
	if err := syscall.Kill(s.last(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantEcho(t, echo(c), "b")
	s.check(t, 2, Died)
}

// TestNoProgram: what cannot be started is no fault of a request, and neither is the end of
// a program that does not serve, or not this.
func TestNoProgram(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"/nothing/there": "it cannot be asked at present: P cannot be started", "/bin/false": "P ended (exit status 1)"} {
		c := New(Options{Process: "P", Command: []string{command}})
		if _, err := echo(c).Do(t.Context(), nil); err == nil || !strings.HasPrefix(err.Error(), want) || expr.Exhausted(err) {
			t.Errorf("%v", err)
		}
		c.Close()
	}
	if _, err := newChild(t, Options{}).Service("nothing", time.Second).Do(t.Context(), nil); err == nil || !strings.Contains(err.Error(), `there is no service "nothing"`) {
		t.Errorf("%v", err)
	}
}

// TestAtOnce asks from many sides.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	c := newChild(t, Options{})
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			for range 20 {
				wantEcho(t, echo(c), strings.Repeat("a", n))
			}
		})
	}
	wg.Wait()
}

// TestWhatItHas: the process has no environment, and the limits that it should.
func TestWhatItHas(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the race detector maps more than any limit")
	}
	var s seen
	o := s.options()
	o.Memory = testMemory
	c := newChild(t, o)
	wantEcho(t, echo(c), "a")
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

// TestOrphans: when the process that requests are for is killed, the one that
// answers ends, even in the middle of a request.
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
	c := New(Options{Command: []string{os.Args[0], "serve", "0"}, Started: func(pid int) { fmt.Fprintln(os.Stdout, pid) }})
	_, err := c.Service("loop", time.Hour).Do(context.Background(), nil)
	fmt.Fprintln(os.Stdout, err)
}

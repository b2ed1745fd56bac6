//go:build unix

// Package child runs a part of a test in a process of its own, which may have
// little memory and processor time: what ends that process does not end the test.
package child

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The limits of a child.
const (
	// Memory is what it may have resident, in bytes: what the chart gives the
	// controller.
	Memory = 512 << 20
	// mapped is what it may have mapped for writing; Go maps memory ahead.
	mapped = 1 << 30
	// CPU is what one case may take, user and system time together.
	CPU = 2 * time.Second
	// killed is after how many seconds of processor time a child is ended.
	killed = 60
)

// Variable names the environment variable that says what a child is to run.
const Variable = "EDICT_TEST_CHILD"

// Asked returns what this process is to run as a child; "" when it is none.
func Asked() string { return os.Getenv(Variable) }

// Limit sets the limits of this process for a test, and tells Run at its end how much
// memory it had.
func Limit(t testing.TB) {
	t.Helper()
	t.Cleanup(func() { fmt.Printf(peakLine, peak()) }) // Run reads it
	if err := limit(); err != nil {
		t.Fatal(err)
	}
}

// peakLine says how much memory was resident at most, in KiB.
const peakLine = "peak: %d KiB\n"

// peak is how much memory this process had resident at most, in KiB; 0 is not known. What
// the kernel says of a process that has ended is no less than what the one had that started
// it.
func peak() (kilobytes int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes
		}
	}
	return 0
}

// told returns what a child has told of its memory, in bytes; false if it has not, as when
// it was killed.
func told(output string) (resident int64, ok bool) {
	for line := range strings.Lines(output) {
		if _, err := fmt.Sscanf(line, peakLine, &resident); err == nil && resident > 0 {
			return resident << 10, true
		}
	}
	return 0, false
}

func limit() error {
	for resource, most := range map[int]uint64{syscall.RLIMIT_DATA: mapped, syscall.RLIMIT_CPU: killed, syscall.RLIMIT_CORE: 0} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit %d: %w", resource, err)
		}
	}
	return nil
}

// Spent is the processor time that this process has taken, user and system.
func Spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Usage is what a child took.
type Usage struct {
	// Resident is the most memory that it had, in bytes; CPU its processor time.
	Resident int64
	CPU      time.Duration
	// Output is what it wrote, Err how it ended.
	Output string
	Err    error
}

// Run runs a test of this binary in a child, which is asked for something.
func Run(ctx context.Context, test, asked string) Usage {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.count=1") // this binary itself
	cmd.Env = append(os.Environ(), Variable+"="+asked, "GOMEMLIMIT=460MiB", "GOTRACEBACK=single")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	u := Usage{Output: out.String(), Err: err}
	if cmd.ProcessState != nil {
		u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			u.Resident = r.Maxrss << 10
		}
	}
	if own, ok := told(u.Output); ok {
		u.Resident = own
	}
	return u
}

package child

import (
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limit bounds what this process has mapped for its data. RLIMIT_AS would count
// the address space that Go's runtime reserves, more than a gigabyte, and a look
// at the resident memory now and then comes too late for one large slice. The
// collector works harder from three quarters of it on.
func limit(memory int64) error {
	for resource, most := range map[int]uint64{syscall.RLIMIT_DATA: uint64(memory), syscall.RLIMIT_CORE: 0} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	debug.SetMemoryLimit(memory / 4 * 3)
	return nil
}

// attributes let the system end the child when the thread ends that started it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// processorTime returns what a process has taken, by its own clock: see
// clock_getcpuclockid(3).
func processorTime(pid int) (time.Duration, bool) {
	const schedule = 2
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|schedule), &t)
	return time.Duration(t.Nano()), err == nil
}

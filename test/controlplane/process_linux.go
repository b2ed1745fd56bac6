package controlplane

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// reaches only this process, and has the kernel kill it if this process dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitStopped waits until the kernel reports a child as stopped, which it does once the
// last of its threads has. The report is left there (WNOWAIT), so that a child that is
// stopped already is found to be so a second time, too.
func awaitStopped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

package podrunner

import "syscall"

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// reaches only this process, and has the kernel kill it if this process dies.
func childAttributes(user int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: credential(user), Pdeathsig: syscall.SIGKILL}
}

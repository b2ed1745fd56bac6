//go:build !linux

package podrunner

import "syscall"

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// reaches only this process. Only Linux can tie a child's life to its parent's.
func childAttributes(user int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: credential(user)}
}

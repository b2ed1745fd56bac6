//go:build !linux

package controlplane

import "syscall"

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// reaches only this process. Only Linux can tie a child's life to its parent's.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// awaitStopped waits for nothing: only Linux tells of a stop without taking the report
// from who waits for the child's end.
func awaitStopped(int) error { return nil }

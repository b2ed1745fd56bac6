package controlplane

import (
	"fmt"
	"os"
	"syscall"
)

// Freeze stops a child of this process, as a machine does that is suspended: its
// connections stay open and nothing in it runs, until [Thaw]. It returns once all
// threads of the child have stopped, which the signal alone does not promise: a thread
// may go on for a moment on another core, and answer a request.
func Freeze(child *os.Process) error {
	if err := child.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stopping process %d: %w", child.Pid, err)
	}
	if err := awaitStopped(child.Pid); err != nil {
		return fmt.Errorf("waiting until process %d has stopped: %w", child.Pid, err)
	}
	return nil
}

// Thaw has a child go on that [Freeze] has stopped.
func Thaw(child *os.Process) error {
	if err := child.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("continuing process %d: %w", child.Pid, err)
	}
	return nil
}

package podrunner

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a running container.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when it is gone
	code    int32         // its exit code; valid once ended is closed
}

// startProcess starts a command with its output appended to a file. The command
// has the attributes of a child.
func startProcess(command *exec.Cmd, log string) (*process, error) {
	file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command.Stdout, command.Stderr = file, file
	child := &process{command: command, ended: make(chan struct{})}
	started := make(chan error)
	go child.run(started)
	return child, <-started
}

// run keeps the thread that starts the child until its end: the kernel ends the
// child with that thread (see childAttributes).
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer close(p.ended)
	err := p.command.Start()
	started <- err
	if err != nil {
		return
	}
	var exit *exec.ExitError
	if err := p.command.Wait(); errors.As(err, &exit) {
		p.code = int32(exit.ExitCode())
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			p.code = 128 + int32(status.Signal())
		}
	}
}

func (p *process) signal(signal syscall.Signal) {
	select {
	case <-p.ended: // the number may already be another process's
	default:
		_ = p.command.Process.Signal(signal) // it may have ended by now
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// credential is that of a user, or nil for the one of this process.
func credential(user int) *syscall.Credential {
	if user == 0 {
		return nil
	}
	return &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
}

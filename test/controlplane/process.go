package controlplane

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a running child with its output in a file.
type process struct {
	name    string
	logPath string
	command *exec.Cmd
	ended   chan struct{} // closed when the child is gone
	failure error         // how it ended; valid once ended is closed
}

// startProcess runs command in a process group of its own, with its output
// appended to logPath.
func startProcess(name, logPath string, command *exec.Cmd) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = childAttributes()

	child := &process{name: name, logPath: logPath, command: command, ended: make(chan struct{})}
	started := make(chan error)
	go child.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return child, nil
}

// run starts the child and waits for its end on one thread of its own: the
// kernel ends the child when the thread that started it ends (see
// childAttributes), and Go ends idle threads at will. The lock is never
// released, so the thread goes with this goroutine.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer close(p.ended)
	err := p.command.Start()
	started <- err
	if err == nil {
		p.failure = p.command.Wait()
	}
}

func (p *process) pid() int { return p.command.Process.Pid }

// kill ends the child and what it started, at once, and waits until it is gone.
func (p *process) kill() error {
	select {
	case <-p.ended: // The number may already be another process's.
		return nil
	default:
	}
	if err := syscall.Kill(-p.pid(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	<-p.ended
	return nil
}

// tailSize is what an error shows of a log: about twenty lines.
const tailSize = 3000

// tail is the end of the log, for an error message.
func (p *process) tail() string {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	if len(text) > tailSize {
		text = text[len(text)-tailSize:]
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return string(bytes.TrimSpace(text))
}

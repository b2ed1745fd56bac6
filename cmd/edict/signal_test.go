package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestSecondSignal: a command that does not end at the first signal ends at the
// second.
func TestSecondSignal(t *testing.T) {
	if os.Getenv("EDICT_TEST_SIGNALS") != "" {
		ignoreFirst()
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecondSignal$")
	cmd.Env = append(os.Environ(), "EDICT_TEST_SIGNALS=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		_, err = cmd.StdinPipe() // nothing is written to it
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the process ended too early")
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-again.C: // the first signal is dealt with in the background
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		}
	}
	failed, _ := errors.AsType[*exec.ExitError](err)
	if failed == nil {
		t.Fatal("the process ended as if nothing had been")
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("got %v", failed)
	}
}

// ignoreFirst is a command that goes on after the first signal. It writes a line when it
// is ready for that.
func ignoreFirst() {
	_, stop := interruptible(context.Background())
	defer stop()
	fmt.Fprintln(os.Stdout, "ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

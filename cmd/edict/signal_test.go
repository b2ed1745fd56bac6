package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() }).Stop()
	lines := bufio.NewScanner(out)
	for range 2 {
		if !lines.Scan() {
			t.Fatal("the process ended too early")
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	failed, _ := errors.AsType[*exec.ExitError](cmd.Wait())
	if failed == nil {
		t.Fatal("the process ended as if nothing had been")
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("got %v", failed)
	}
}

// ignoreFirst is a command that goes on after the first signal. It writes a line
// when it is ready for each.
func ignoreFirst() {
	ctx, stop := interruptible(context.Background())
	defer stop()
	fmt.Println("ready")
	<-ctx.Done()
	time.Sleep(100 * time.Millisecond) // until AfterFunc has run
	fmt.Println("ready")
	time.Sleep(time.Minute)
}

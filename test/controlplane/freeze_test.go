package controlplane

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// busyVariable makes a second run of this test binary the child that TestFreeze
// freezes: each of its threads is busy.
const busyVariable = "EDICT_TEST_BUSY"

// TestFreeze: when Freeze returns no thread of the child runs any more. After the signal
// alone several still do.
func TestFreeze(t *testing.T) {
	if os.Getenv(busyVariable) != "" {
		beBusy()
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells when a child has stopped")
	}
	command := exec.Command(os.Args[0], "-test.run=^TestFreeze$")
	command.Env = append(os.Environ(), busyVariable+"=1")
	child, err := startProcess("busy", filepath.Join(t.TempDir(), "log"), command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.kill() })
	eventually(t, "the child has threads", func() bool { return len(threads(t, child.pid())) >= busyThreads })

	running := func() int {
		states := threads(t, child.pid())
		return len(states) - bytes.Count(states, []byte("T"))
	}
	for range 50 {
		for range 2 { // A child that is frozen can be frozen again.
			if err := Freeze(command.Process); err != nil {
				t.Fatal(err)
			}
		}
		if n := running(); n > 0 {
			t.Fatalf("%d threads go on while the child is frozen", n)
		}
		if err := Thaw(command.Process); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the child goes on", func() bool { return running() > 0 })
	}
	if err := child.kill(); err != nil {
		t.Fatal(err)
	}
	if err := Freeze(command.Process); err == nil {
		t.Error("a child that has ended was frozen")
	}
}

const busyThreads = 8

// beBusy keeps its threads busy for a minute, or until it is killed.
func beBusy() {
	runtime.GOMAXPROCS(busyThreads)
	for range busyThreads {
		go func() {
			for i := 0; ; i++ {
				_ = strconv.Itoa(i)
			}
		}()
	}
	time.Sleep(time.Minute)
	os.Exit(0)
}

// threads has the state of each thread of a process, as proc(5) names it.
func threads(t *testing.T, pid int) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		t.Fatal(err)
	}
	var states []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if _, state, found := bytes.Cut(text, []byte(") ")); err == nil && found {
			states = append(states, state[0])
		}
	}
	return states
}

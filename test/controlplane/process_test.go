package controlplane

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// parentVariable makes a second run of this test binary the parent whose end
// TestChildDiesWithParent watches.
const parentVariable = "EDICT_TEST_PARENT_LOG"

func TestChildDiesWithParent(t *testing.T) {
	if log := os.Getenv(parentVariable); log != "" {
		child, err := startProcess("sleep", log, exec.Command("sleep", "60"))
		fmt.Println("child", child.pid(), err)
		time.Sleep(time.Minute)
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux ties a child to its parent")
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestChildDiesWithParent$")
	parent.Env = append(os.Environ(), parentVariable+"="+filepath.Join(t.TempDir(), "log"))
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(output).ReadString('\n')
	fields := strings.Fields(line)
	if len(fields) != 3 || !isAlive(t, fields[1]) {
		t.Fatalf("no child: %q", line)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	eventually(t, "the child is gone", func() bool { return !isAlive(t, fields[1]) })
}

// isAlive counts a zombie as dead: nobody may be there to collect an orphan.
func isAlive(t *testing.T, pid string) bool {
	t.Helper()
	if _, err := strconv.Atoi(pid); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	_, state, _ := bytes.Cut(text, []byte(") "))
	return err == nil && !bytes.HasPrefix(state, []byte("Z"))
}

func TestKillTwice(t *testing.T) {
	child, err := startProcess("sleep", filepath.Join(t.TempDir(), "log"), exec.Command("sleep", "60"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := child.kill(); err != nil {
			t.Error(err)
		}
	}
}

func TestTailIsShort(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat("a line of the log\n", 1000) + "the last line\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tail := (&process{logPath: log}).tail()
	if len(tail) > tailSize || !strings.HasPrefix(tail, "a line") || !strings.HasSuffix(tail, "the last line") {
		t.Errorf("the tail has %d bytes: %q", len(tail), tail)
	}
}

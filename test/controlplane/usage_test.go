package controlplane

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestChild: the CPU time of a process is that of its line in /proc, whatever its name.
func TestChild(t *testing.T) {
	t.Parallel()
	const line = "17 (%s) S %d 17 17 0 -1 4194560 1 0 0 0 250 75 0 0 20 0 9 0 1 1 1"
	for name, parent := range map[string]int{"etcd": os.Getpid(), "a) b": os.Getpid(), "": 1} {
		got, cpu := child(fmt.Sprintf(line, name, parent))
		if got != name || name == "etcd" && cpu != 3250*time.Millisecond {
			t.Errorf("%q of %d: got %q, %v", name, parent, got, cpu)
		}
	}
	if name, _ := child(""); name != "" {
		t.Errorf("an empty line: %q", name)
	}
}

// TestMinus: each component has a difference of its own.
func TestMinus(t *testing.T) {
	t.Parallel()
	if got := (CPU{7, 5}).Minus(CPU{1, 2}); got != (CPU{6, 3}) {
		t.Errorf("%v", got)
	}
}

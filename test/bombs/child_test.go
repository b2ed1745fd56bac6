package bombs

import (
	"os"
	"strings"
	"testing"

	"github.com/edict-dev/edict/test/bombs/child"
	"github.com/edict-dev/edict/test/budget"
)

// few are the cases that are run in a process of their own each time: one for
// each way of growing, of which those that are false only with EDICT_TEST_LONG.
var few = map[string]bool{
	"replace by a text, twice": false, "join with a long separator": true, "one list put into one many times": false, "an index with the square of the length": false,
	"very many different numbers": false, "one object as YAML a thousand times": true, "aliases of a long text": false, "a pattern with a large program": true,
	"an object with thousands of references to one": false, "a rule for very many items": false, "long texts kept for many objects": false, "three lists crossed": true,
	"thousands of variables in a chain": false, "long lists": false, "a constant that grows": true, "many objects with a text of another": false,
}

// TestInAProcess: each case ends in a process with the memory that the chart
// gives the controller, and within two seconds of processor time. All are run
// with EDICT_TEST_FAULT, else a few.
func TestInAProcess(t *testing.T) {
	if child.Asked() != "" {
		t.Skip("this is a child")
	}
	for _, s := range cases() {
		always, isOne := few[s.name]
		if os.Getenv("EDICT_TEST_FAULT") == "" && !always && (!isOne || !budget.Long()) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			u := child.Run(t.Context(), "TestChild", s.name)
			most := child.CPU
			if s.others > 0 {
				most *= 3 // hundreds of evaluations, each far below
			}
			if u.Err != nil || u.Resident > child.Memory || u.CPU > most {
				t.Errorf("%v, %d MiB, %v\n%s", u.Err, u.Resident>>20, u.CPU, tail(u.Output))
			}
		})
	}
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// TestChild is what a child runs.
func TestChild(t *testing.T) {
	name := child.Asked()
	if name == "" {
		t.Skip("this is no child")
	}
	child.Limit(t)
	found := false
	for _, s := range cases() {
		if s.name == name {
			found = true
			s.check(t, s.run(t))
		}
	}
	if !found {
		t.Fatalf("there is no case %q", name)
	}
}

// TestTheLimitsOfAChild: a child that takes too much memory ends, and it is told.
func TestTheLimitsOfAChild(t *testing.T) {
	if child.Asked() != "" {
		t.Skip("this is a child")
	}
	u := child.Run(t.Context(), "TestGreedyChild", "all memory there is")
	if u.Err == nil || !strings.Contains(u.Output, "out of memory") {
		t.Errorf("%v, %d MiB: %s", u.Err, u.Resident>>20, tail(u.Output))
	}
}

// TestGreedyChild takes more than a child may.
func TestGreedyChild(t *testing.T) {
	if child.Asked() == "" {
		t.Skip("this is no child")
	}
	child.Limit(t)
	var kept [][]byte
	for range 64 {
		b := make([]byte, 64<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
	t.Log(len(kept))
}

// TestOwnMemory: what a child had resident is its own, however much this process has.
func TestOwnMemory(t *testing.T) {
	if child.Asked() != "" {
		t.Skip("this is a child")
	}
	much := make([]byte, child.Memory/2)
	for i := 0; i < len(much); i += os.Getpagesize() {
		much[i] = 1
	}
	u := child.Run(t.Context(), "TestOwnMemoryChild", "nothing")
	if u.Err != nil || u.Resident == 0 || u.Resident > child.Memory/4 {
		t.Errorf("%v, %d MiB beside %d: %s", u.Err, u.Resident>>20, len(much)>>20, tail(u.Output))
	}
}

// TestOwnMemoryChild is what that child runs.
func TestOwnMemoryChild(t *testing.T) {
	if child.Asked() == "" {
		t.Skip("this is no child")
	}
	child.Limit(t)
}

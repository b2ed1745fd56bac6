package shards

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBrakedAdd sums up what the brakes of several replicas do, and leaves what they have
// told as it is.
func TestBrakedAdd(t *testing.T) {
	t.Parallel()
	var sum Braked
	told := []*Braked{{Slowed: 1}, nil, {Contested: 2, Fields: []string{"a", "b"}}, {Contested: 5, Fields: []string{"c", "d", "e"}, Slowed: 2, Slow: "x"}, {Uncertain: 3, Slow: "y"}}
	for _, b := range told {
		sum.Add(b)
	}
	if diff := cmp.Diff(Braked{Contested: 7, Fields: []string{"a", "b", "c"}, Slowed: 3, Slow: "x", Uncertain: 3}, sum); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, told[2].Fields); diff != "" {
		t.Error(diff)
	}
}

// TestBrakedIsTold: it is wrong that something is braked, and it is told cut.
func TestBrakedIsTold(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	all := []Trouble{{Policy: "p", Revision: "r", Braked: &Braked{Contested: 1, Fields: []string{long}, Slowed: 1, Slow: long}}}
	r := Replica{Shards: 4}
	r.tell(all)
	if !all[0].Any() || len(r.Troubles) != 1 {
		t.Fatalf("it is not told: %+v", r)
	}
	if b := r.Troubles[0].Braked; len(b.Slow) != textLimits[0] || len(b.Fields[0]) != textLimits[0] {
		t.Errorf("texts of %d and %d bytes are told", len(b.Slow), len(b.Fields[0]))
	}
	if len(all[0].Braked.Slow) != len(long) || len(all[0].Braked.Fields[0]) != len(long) {
		t.Error("what was given has changed")
	}
}

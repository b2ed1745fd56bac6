package analyze

import (
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// connectives has parts of parts.
const connectives = `(params.limit > 1 || params.limit < -1) && !(params.limit == 5)`

// shape returns the texts of a condition and its parts.
func shape(c *Condition) any {
	parts := []any{c.Program.Source()}
	for _, p := range c.Parts {
		parts = append(parts, shape(p))
	}
	return parts
}

// TestConditionOf takes a condition apart at its connectives, once, whoever asks.
func TestConditionOf(t *testing.T) {
	t.Parallel()
	p := compiled(t, environment(t), connectives)
	all := make([]*Condition, 8)
	var asked sync.WaitGroup
	for i := range all {
		asked.Go(func() { all[i] = ConditionOf(p) })
	}
	asked.Wait()
	want := []any{
		connectives,
		[]any{"params.limit > 1 || params.limit < -1", []any{"params.limit > 1"}, []any{"params.limit < -1"}},
		[]any{"!(params.limit == 5)", []any{"params.limit == 5"}},
	}
	if diff := cmp.Diff(any(want), shape(all[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range all {
		if c.Program != p || c.Form != And || c.Parts[0] != all[0].Parts[0] {
			t.Errorf("%v has parts of its own", shape(c))
		}
	}
}

// TestConditionOfAllocates: a condition is not compiled again for every record that is
// shown.
func TestConditionOfAllocates(t *testing.T) {
	p := compiled(t, environment(t), connectives)
	if got := testing.AllocsPerRun(100, func() { ConditionOf(p) }); got > 3 {
		t.Errorf("%v allocations", got)
	}
}

// TestConditionsAreReleased: the parts go with the program.
func TestConditionsAreReleased(t *testing.T) {
	t.Parallel()
	key := func() weak.Pointer[cel.Program] {
		p := compiled(t, environment(t), connectives)
		ConditionOf(p)
		return weak.Make(p)
	}()
	const rounds = 100 // cleanups run on a goroutine of their own
	for range rounds {
		runtime.GC()
		if _, kept := conditions.Load(key); !kept {
			return
		}
		runtime.Gosched()
	}
	t.Error("the parts of a program that nobody uses are kept")
}

// TestDecidingParts: a part that has no truth, because it fails, decides nothing if another
// one does.
func TestDecidingParts(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		"params.limit > 1 || params.limit < -1": {"params.limit > 1"},
		"params.limit < -1 || params.limit > 1": {"params.limit > 1"},
		"params.limit > 9 && params.limit < -1": {"params.limit > 9"},
		"params.limit > 9 || params.limit < -1": {"params.limit > 9", "params.limit < -1"},
	} {
		truth := map[string]bool{"params.limit > 1": true, "params.limit > 9": false, "params.limit < -1 || params.limit > 1": true, "params.limit > 1 || params.limit < -1": true, "params.limit > 9 && params.limit < -1": false}
		var got []string
		for _, p := range ConditionOf(compiled(t, environment(t), source)).Deciding(func(p *cel.Program) (holds, ok bool) {
			holds, ok = truth[p.Source()]
			return holds, ok
		}) {
			got = append(got, p.Source())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

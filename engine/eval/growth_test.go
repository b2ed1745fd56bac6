package eval_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
)

// forEachItem is a rule with an action for each of the numbers of a Widget.
func forEachItem(action string) string {
	return "  rules:\n    - name: r\n      forEach: object.spec.items\n      as: i\n      do: [" + action + "]\n"
}

// allocated is how many bytes a decision about a Widget with so many numbers allocates.
func allocated(t *testing.T, policy string, n int) uint64 {
	t.Helper()
	items := make([]string, n)
	for i := range items {
		items[i] = strconv.Itoa(10_000 + i)
	}
	b := newBench(t, policy, "{kind: Widget, metadata: {name: w}, spec: {items: ["+strings.Join(items, ", ")+"]}}")
	in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now, Remembered: func(string) (own, all, named int) { return 0, 0, 0 }}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := eval.Evaluate(t.Context(), in, nil)
	runtime.ReadMemStats(&after)
	if len(d.Problems) > 0 || len(d.Effects)+len(d.Remember) == 0 {
		t.Fatalf("%d effects, %d remembered, problems: %v", len(d.Effects), len(d.Remember), d.Problems)
	}
	return after.TotalAlloc - before.TotalAlloc
}

// TestGrowthWithItems: ten times the items of a rule allocate about ten times as much.
// It is not parallel, because it counts what the process allocates.
func TestGrowthWithItems(t *testing.T) {
	for name, policy := range map[string]string{
		"remember": forEachItem(`{remember: {name: "n${string(i)}", value: "${i}"}}`),
	} {
		few, more := allocated(t, policy, 200), allocated(t, policy, 2000)
		t.Logf("%s: %d and %d bytes", name, few, more)
		if more > 12*few {
			t.Errorf("%s: %d bytes for 200 items, %d for 2,000", name, few, more)
		}
	}
}

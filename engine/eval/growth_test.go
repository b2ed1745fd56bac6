package eval_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// forEachItem is a rule with an action for each of the numbers of a Widget.
func forEachItem(action string) string {
	return "  rules:\n    - name: r\n      forEach: object.spec.items\n      as: i\n      do: [" + action + "]\n"
}

// withItems has a Widget with so many numbers.
func withItems(t *testing.T, policy string, n int) *bench {
	t.Helper()
	items := make([]string, n)
	for i := range items {
		items[i] = strconv.Itoa(10_000 + i)
	}
	return newBench(t, policy, "{kind: Widget, metadata: {name: w}, spec: {items: ["+strings.Join(items, ", ")+"]}}")
}

// allocated is how many bytes a decision about so many numbers allocates.
func allocated(t *testing.T, policy string, n int) uint64 {
	t.Helper()
	b := withItems(t, policy, n)
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

// TestManyConditions: each of many conditions writes the list of all of them, of which the
// last counts.
func TestManyConditions(t *testing.T) {
	t.Parallel()
	const n = 700
	b := withItems(t, forEachItem(`{condition: {type: "C${string(i)}", status: "True", reason: R, message: m}}`), n)
	d := eval.Evaluate(t.Context(), eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}, nil)
	if len(d.Problems) > 0 || len(d.Effects) != 1 || len(d.Effects[0].Conditions) != n {
		t.Fatalf("%d effects, %d problems", len(d.Effects), len(d.Problems))
	}
	if list, _ := value.Path(d.Effects[0].Patch, "status", "conditions").(*value.List); list == nil || list.Len() != n {
		t.Errorf("%v is written", list)
	}
}

// TestRememberingMany: each of many values that are remembered takes little, whatever the
// number of those before. It is not parallel, because it counts what the process allocates.
func TestRememberingMany(t *testing.T) {
	const n, most = 2000, 1024
	policy := forEachItem(`{remember: {name: "n${string(i)}", value: "${i}"}}`)
	if bytes := allocated(t, policy, n); bytes > n*most {
		t.Errorf("%d bytes for %d values", bytes, n)
	}
}

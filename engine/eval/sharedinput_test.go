package eval_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/allocations"
	"github.com/edict-dev/edict/test/budget"
)

// sharing has inputs that many keys find the same objects for, and some that they do not.
const sharing = `
  inputs:
    - {name: all, apiVersion: example.com/v1, kind: Gadget}
    - {name: byName, apiVersion: example.com/v1, kind: Gadget, keyBy: item.metadata.name}
    - {name: byZone, apiVersion: example.com/v1, kind: Gadget, groupBy: item.spec.zone}
    - {name: ordered, apiVersion: example.com/v1, kind: Gadget, orderBy: [item.spec.size, item.metadata.name]}
    - {name: bySize, apiVersion: example.com/v1, kind: Gadget, keyBy: 'string(item.spec.size)'}
    - {name: mineFirst, apiVersion: example.com/v1, kind: Gadget, orderBy: ['item.spec.?widget.orValue("") != key.name', item.metadata.name]}
    - {name: near, apiVersion: example.com/v1, kind: Gadget, where: item.spec.zone == object.spec.zone, keyBy: item.metadata.name}
    - {name: large, apiVersion: example.com/v1, kind: Gadget, where: item.spec.size > object.spec.size}
  variables:
    - {name: sizes, forEach: inputs.all, as: g, keyBy: g.metadata.name, value: "${g.spec.size}"}
    - {name: zones, forEach: inputs.all, as: g, groupBy: g.spec.zone, value: "${g.metadata.name}"}
    - {name: sum, expression: 'inputs.all.filter(g, g.spec.size > 3 && g.metadata.name != "g5" || g.spec.size < 2).map(g, g.spec.size * 2 + 1).filter(s, s % 3 != 1).sum()'}
    - {name: named, when: variables.sum > 100, value: {sum: "${variables.sum}", large: "${inputs.byName.filter(n, inputs.byName[n].spec.size > 20 && n != 'g7').size()}", one: "${inputs.byName[?'g2'].?spec.size.orValue(-1)}"}}
    - {name: mine, expression: 'inputs.all.filter(g, g.spec.size > 3 && g.metadata.name != "g1" + key.name.replace("w", "") || g.spec.size < 2).map(g, g.spec.size * 2 + 1).filter(s, s % 3 != 1).sum()'}
    - {name: late, expression: 'inputs.all.filter(g, g.spec.size > 3 && elapsed(timestamp("2026-03-01T16:00:00Z"), duration("1m")) && g.metadata.name != "g5").map(g, g.spec.size * 2 + 1).size()'}
  rules:
    - {name: mark, when: 'has(object.spec.mark) && object.spec.mark in inputs.byName', do: [{patch: {of: 'inputs.byName[object.spec.mark]', value: {spec: {size: 77}}}}]}
    - name: r
      do:
        - status:
            all: "${size(inputs.all)} ${inputs.all[0].metadata.name} ${inputs.all.map(g, g.spec.size).sum()}"
            byName: "${inputs.byName[?'g1'].?spec.size.orValue(-1)}"
            byZone: "${inputs.byZone[?object.spec.zone].orValue([]).map(g, g.metadata.name)}"
            ordered: "${inputs.ordered.map(g, g.metadata.name)}"
            first: "${inputs.mineFirst[0].metadata.name}"
            near: "${inputs.near.map(n, n)}"
            large: "${size(inputs.large)}"
            size: "${variables.sizes[?key.name].orValue(-1)}"
            variables: "${variables.sum} ${variables.mine} ${variables.late}"
            named: "${variables.named}"
            zone: "${variables.zones[?object.spec.zone].orValue([])}"
    - {name: twice, do: [{status: {bySize: "${size(inputs.bySize)}"}}]}
`

// keysOf returns the keys of Widgets.
func keysOf(n int) (out []eval.Key) {
	for i := range n {
		out = append(out, eval.Key{Name: fmt.Sprint("w", i)})
	}
	return out
}

func gadget(i, size, zone int) string {
	return fmt.Sprintf("{kind: Gadget, metadata: {name: g%d}, spec: {size: %d, zone: z%d, widget: w%d}}", i, size, zone, i%7)
}

// TestSharedInputs: keys that share what their inputs come to decide as each of them does by
// itself, in whatever order they are decided about, also of a world that is older than what
// another has seen.
func TestSharedInputs(t *testing.T) {
	t.Parallel()
	b := newBench(t, sharing)
	for i := range 120 {
		b.put(gadget(i, i, i%2))
	}
	keys := keysOf(6)
	for i, key := range keys {
		mark := ""
		if i == 5 {
			mark = ", mark: g3"
		}
		b.put(fmt.Sprintf("{kind: Widget, metadata: {name: %s}, spec: {zone: z%d, size: %d%s}}", key.Name, i%3, 10*i, mark))
	}
	var shared eval.Shared
	const seed = 1
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	worlds := []*world.Snapshot{b.store.Snapshot()}
	for step := range budget.Of(80, 150) {
		b.change(random)
		worlds = append(worlds, b.store.Snapshot())
		of := worlds[max(0, len(worlds)-1-random.IntN(4))]
		key := keys[random.IntN(len(keys))]
		if b.memos[key] == nil || random.IntN(20) == 0 {
			b.memos[key] = &eval.Memo{}
		}
		in := eval.Input{Policy: b.policy, Key: key, World: of, Now: now.Add(time.Duration(step) * time.Minute), Shared: &shared}
		got := told(eval.Evaluate(t.Context(), in, b.memos[key]))
		if diff := cmp.Diff(told(eval.Plain(t.Context(), in)), got); diff != "" {
			t.Fatalf("step %d, %s (-plainly +shared):\n%s", step, key.Name, diff)
		}
	}
}

// change changes the world a little, now and then a lot.
func (b *bench) change(random *rand.Rand) {
	b.t.Helper()
	n := 1
	if random.IntN(50) == 0 {
		n = 40
	}
	for range n {
		i := random.IntN(130)
		switch random.IntN(4) {
		case 0:
			b.store.Delete(b.policy.Inputs[0].Source, "", fmt.Sprint("g", i))
		case 1:
			b.put(gadget(i, random.IntN(140), i%2))
		default:
			b.put(gadget(i, i, random.IntN(3)))
		}
	}
}

// TestSharedInputsTogether: keys may be decided about at the same time.
func TestSharedInputsTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t, sharing)
	for i := range 120 {
		b.put(gadget(i, i, i%2))
	}
	var shared eval.Shared
	var all sync.WaitGroup
	memos := make([]eval.Memo, 8)
	for i, key := range keysOf(len(memos)) {
		b.put(fmt.Sprintf("{kind: Widget, metadata: {name: %s}, spec: {zone: z%d, size: %d}}", key.Name, i%3, i))
	}
	for round := range budget.Of(8, 20) {
		b.put(gadget(round, round+1, round%3))
		snapshot := b.store.Snapshot()
		for i, key := range keysOf(len(memos)) {
			in := eval.Input{Policy: b.policy, Key: key, World: snapshot, Now: now, Shared: &shared}
			all.Go(func() {
				if diff := cmp.Diff(told(eval.Plain(t.Context(), in)), told(eval.Evaluate(t.Context(), in, &memos[i]))); diff != "" {
					t.Errorf("%s (-plainly +shared):\n%s", key.Name, diff)
				}
			})
		}
		all.Wait()
	}
}

// TestSharedInputsAreMadeOnce: what a key keeps of an input without a condition does not grow
// with the objects that it has.
func TestSharedInputsAreMadeOnce(t *testing.T) {
	const few, many = 100, 1000
	each := func(gadgets int) float64 {
		b := newBench(t, "\n  inputs: [{name: byName, apiVersion: example.com/v1, kind: Gadget, keyBy: item.metadata.name}]\n"+
			"  variables: [{name: sizes, expression: 'inputs.byName.map(g, string(inputs.byName[g].spec.size) + \"x\")'}]\n"+
			do("{status: {n: '${inputs.byName[?key.name].?spec.size.orValue(0)} ${size(variables.sizes)}'}}"))
		for i := range gadgets {
			b.put(gadget(i, i, i%2))
		}
		b.put("{kind: Widget, metadata: {name: w}}")
		var shared eval.Shared
		in := eval.Input{Policy: b.policy, World: b.store.Snapshot(), Now: now, Shared: &shared}
		first := &eval.Memo{}
		defer runtime.KeepAlive(first) // as long as it is used, so is what it shares
		in.Key = widget
		eval.Evaluate(t.Context(), in, first)
		return allocations.Fewest(func() { eval.Evaluate(t.Context(), in, &eval.Memo{}) })
	}
	if a, b := each(few), each(many); b > 2*a {
		t.Errorf("%v allocations with %d objects, %v with %d", a, few, b, many)
	}
}

// BenchmarkManyKeys evaluates as many keys as there are objects in an input without a
// condition: what an evaluation takes, and what is kept of each key afterwards.
func BenchmarkManyKeys(b *testing.B) {
	for _, n := range []int{100, 1000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			of := newBench(b, "\n  inputs: [{name: byName, apiVersion: example.com/v1, kind: Gadget, keyBy: item.metadata.name}]\n"+
				do("{status: {n: '${inputs.byName[?key.name].?spec.size.orValue(0)}'}}"))
			for i := range n {
				of.put(gadget(i, i, i%2))
				of.put(fmt.Sprintf("{kind: Widget, metadata: {name: w%d}}", i))
			}
			in, keys := eval.Input{Policy: of.policy, World: of.store.Snapshot(), Now: now}, keysOf(n)
			var kept uint64
			for b.Loop() {
				shared, memos, before := &eval.Shared{}, make([]eval.Memo, n), live()
				in.Shared = shared
				for i, key := range keys {
					in.Key = key
					eval.Evaluate(b.Context(), in, &memos[i])
				}
				kept = live() - before
				runtime.KeepAlive(memos)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
			b.ReportMetric(float64(kept)/float64(n), "kept-B/key")
		})
	}
}

// live returns how many bytes of the heap are in use.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestSharedInputsAreOfTheSameProbes: what a key finds for one text is not what another
// finds for two, whatever they are.
func TestSharedInputsAreOfTheSameProbes(t *testing.T) {
	t.Parallel()
	b := newBench(t, "\n  inputs: [{name: near, apiVersion: example.com/v1, kind: Gadget, within: cluster, where: item.spec.zone in object.spec.zones}]\n"+
		do("{status: {n: '${size(inputs.near)}'}}"))
	for i := range 120 {
		b.put(fmt.Sprintf("{kind: Gadget, metadata: {name: g%d}, spec: {zone: '%s'}}", i, []string{"aa", "bb", "2 aa2 bb"}[i%3]))
	}
	b.put("{kind: Widget, metadata: {name: w0}, spec: {zones: ['2 aa2 bb']}}")
	b.put("{kind: Widget, metadata: {name: w1}, spec: {zones: [aa, bb]}}")
	var shared eval.Shared
	memos := make([]eval.Memo, 2)
	for i, key := range keysOf(len(memos)) {
		in := eval.Input{Policy: b.policy, Key: key, World: b.store.Snapshot(), Now: now, Shared: &shared}
		if diff := cmp.Diff(told(eval.Plain(t.Context(), in)), told(eval.Evaluate(t.Context(), in, &memos[i]))); diff != "" {
			t.Errorf("%s (-plainly +shared):\n%s", key.Name, diff)
		}
	}
	runtime.KeepAlive(memos)
}

// TestSharedVariablesCount: a value that other keys may have counts for the key that has
// computed it, and only for that.
func TestSharedVariablesCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, "\n  inputs: [{name: near, apiVersion: example.com/v1, kind: Gadget, where: item.spec.zone == object.spec.zone}]\n"+
		"  variables: [{name: long, expression: 'inputs.near.map(g, g.metadata.name + \"a text that is long enough\")'}]\n"+
		do("{status: {n: '${size(variables.long)}'}}"))
	for i := range 240 {
		b.put(gadget(i, i, i%2))
	}
	var shared eval.Shared
	memos := make([]eval.Memo, 4)
	for i, key := range keysOf(len(memos)) {
		b.put(fmt.Sprintf("{kind: Widget, metadata: {name: %s}, spec: {zone: z%d}}", key.Name, i%2))
		eval.Evaluate(t.Context(), eval.Input{Policy: b.policy, Key: key, World: b.store.Snapshot(), Now: now, Shared: &shared}, &memos[i])
		if kept := memos[i].Kept(); (kept > 120*len("a text that is long enough")) != (i < 2) {
			t.Errorf("%s keeps %d bytes", key.Name, kept)
		}
	}
}

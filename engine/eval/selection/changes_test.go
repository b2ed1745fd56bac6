package selection_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// changing are selections of which each step has a form of its own.
var changing = [][]string{
	{
		"candidates: [{as: node, in: inputs.nodes, orderBy: [node.metadata.labels.zone, node.metadata.name]}, {as: address, in: 'node.?status.?addresses.orValue([])'}]",
		`pipeline: [{filter: far, keep: 'node.metadata.labels.zone != "z9" && size(address.address) > 1'},` +
			`{filter: taken, keep: '!(node.metadata.name in claimed)'},` +
			`{call: extender.filterAndScore, name: called, with: {reservationID: r, ttl: '${duration("1m")}', size: 1}, candidate: {name: "${address.address}"}},` +
			`{score: alone, groupBy: node.metadata.labels.zone, points: 'countDistinct(members, m, m.node.metadata.name) < 3 ? 5 : 0'},` +
			`{score: alike, groupBy: node.metadata.labels.zone, points: 'countDistinct(members, m, m.node.metadata.name.endsWith("1")) > 1 ? 7 : 0'},` +
			`{score: group, groupBy: node.metadata.name, points: 'size(members) > 1 ? 2 : 0'},` +
			`{score: failing, points: 'int(address.address.substring(1)) % 3'}]`,
		"orderBy: [address.address, node.metadata.name]",
	},
	{
		"candidates: [{as: node, in: inputs.nodes, orderBy: [node.metadata.labels.zone]}]",
		"take: {max: '30'}",
	},
	{
		"candidates: [{as: node, in: inputs.nodes}]",
		`pipeline: [{prefer: 'node.metadata.labels.zone == "z1" ? 1 : 0', name: zone}, {score: length, points: size(node.metadata.name)}]`,
		"take: {weight: size(node.metadata.name), budget: '20', skipTooLarge: true}",
	},
	{
		"candidates: [{as: node, in: inputs.nodes}]",
		"orderBy: ['" + mostlyTruths + "', node.metadata.name]",
		"take: {max: '30'}",
	},
	{
		"candidates: [{as: node, in: inputs.nodes}, {as: address, in: 'node.?status.?addresses.orValue([])'}]",
		`pipeline: [{filter: high, keep: 'node.metadata.labels.zone < "z8"'},` +
			`{score: group, groupBy: '` + mostlyTruths + `', points: 'size(members) > 100 ? 2 : 0'},` +
			`{score: sides, groupBy: 'node.metadata.labels.zone < "z4"', points: 'size(members) % 7'}]`,
		"orderBy: ['" + mostlyTruths + "', address.address, node.metadata.name]",
	},
	{
		"candidates: [{as: node, in: inputs.nodes, orderBy: ['" + sometimesAbsent + "', node.metadata.name]}, {as: address, in: '" + sometimesAbsent + " ? node.?status.?addresses.orValue([]) : []', orderBy: [address.address]}]",
		"pipeline: [{score: length, points: size(node.metadata.name + address.address)}]",
	},
}

// sometimesAbsent is true for all nodes, and has to be asked plainly for some of them.
const sometimesAbsent = `node.metadata.labels.zone > "z4" || node.spec.unschedulable || node.metadata.name != ""`

// mostlyTruths is true or false for nearly all nodes: long columns begin with truths and
// have another value later on.
const mostlyTruths = `node.metadata.labels.zone == "z9" && node.metadata.name == "node-1" ? dyn("text") : dyn(node.metadata.labels.zone > "z4")`

// TestChanges: a selection with a cache that has seen other lists chooses what one
// without a cache chooses, and costs as much as one with a new cache; also of a list so
// long that its columns are computed in pieces.
func TestChanges(t *testing.T) {
	t.Parallel()
	for i, fields := range changing {
		for _, size := range []struct{ nodes, steps int }{{40, 300}, {900, 4}} {
			t.Run(fmt.Sprintf("%d of %d nodes", i, size.nodes), func(t *testing.T) {
				t.Parallel()
				testChanges(t, selectOf(t, fields...), rand.New(rand.NewPCG(uint64(i), 1)), size.nodes, size.steps)
			})
		}
	}
}

// FuzzColumns is TestChanges for other lists: shorter and longer ones than one piece of a
// column.
func FuzzColumns(f *testing.F) {
	f.Add(uint64(1), uint16(0), uint16(300))
	f.Fuzz(func(t *testing.T, seed uint64, which, nodes uint16) {
		testChanges(t, selectOf(t, changing[int(which)%len(changing)]...), rand.New(rand.NewPCG(seed, 2)), 1+int(nodes)%600, 4)
	})
}

func testChanges(t *testing.T, s *plan.Select, r *rand.Rand, size, steps int) {
	t.Helper()
	if !s.Shared {
		t.Fatal("the selection is not shared, so the cache is not tested")
	}
	cache, nodes := &selection.Cache{}, []value.Value(nil)
	for range size {
		nodes = append(nodes, randomNode(r))
	}
	for step := range steps {
		in := selection.Input{Select: s, Scope: names{"inputs.nodes": value.NewList(nodes), "claimed": value.OfStrings([]string{"node-1", "node-7"})}, Ask: verdicts}
		plain, _ := outcome(t, in, nil)
		fresh, cost := outcome(t, in, &selection.Cache{})
		for range 2 {
			kept, again := outcome(t, in, cache)
			if d := cmp.Diff([]string{plain, plain}, []string{fresh, kept}); d != "" || cost != again {
				t.Fatalf("step %d costs %d, with a cache %d; plain, with a new and with the cache:\n%s", step, cost, again, d)
			}
		}
		nodes = edited(r, nodes)
	}
}

func outcome(t *testing.T, in selection.Input, cache *selection.Cache) (string, uint64) {
	t.Helper()
	in.Meter = expr.NewMeter(t.Context())
	defer in.Meter.Close()
	in.Cache = cache
	o, err := selection.Run(t.Context(), in)
	if err != nil {
		return err.Error(), in.Meter.Spent()
	}
	return describe(o), in.Meter.Spent()
}

func randomNode(r *rand.Rand) value.Value {
	var addresses []string
	for range r.IntN(4) {
		addresses = append(addresses, fmt.Sprintf("%s%d", []string{"a", "a", "a", "x"}[r.IntN(4)], r.IntN(100)))
	}
	return node(fmt.Sprintf("node-%d", r.IntN(60)), fmt.Sprintf("z%d", r.IntN(10)), addresses...)
}

// edited returns the list with some nodes changed, in all ways in which lists change.
func edited(r *rand.Rand, nodes []value.Value) []value.Value {
	nodes = slices.Clone(nodes)
	at := r.IntN(len(nodes))
	switch r.IntN(8) {
	case 0:
		nodes = slices.Insert(nodes, at, randomNode(r))
	case 1:
		if len(nodes) > 10 {
			nodes = slices.Delete(nodes, at, at+1)
		}
	case 2:
		nodes[at], nodes[0] = nodes[0], nodes[at]
	case 3:
		slices.Reverse(nodes)
	case 4: // the same again, another object
		nodes[at] = value.Freeze(value.Plain(nodes[at]), nil, value.KeepAll)
	default:
		nodes[at] = randomNode(r)
	}
	return nodes
}

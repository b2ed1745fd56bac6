package eval_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/test/allocations"
	"github.com/edict-dev/edict/test/budget"
)

// columnsSpec has collections over long lists: with local variables, loops, entries of
// maps, times, keys and orders, of items of which some fail.
const columnsSpec = `
  params: {label: zone}
  inputs:
    - {name: byName, apiVersion: example.com/v1, kind: Gadget, keyBy: item.metadata.name}
    - {name: byZone, apiVersion: example.com/v1, kind: Gadget, groupBy: 'item.spec.?zone.orValue("")'}
    - {name: parts, apiVersion: example.com/v1, kind: Part, where: 'object.spec.?items.orValue([]).exists(i, i.?name.orValue("") == item.metadata.name)', keyBy: item.metadata.name}
    - {name: heavy, apiVersion: example.com/v1, kind: Gadget, where: 'item.spec.weight > object.spec.?least.orValue(1) || item.spec.?zone.orValue("") == "b"', orderBy: [-item.spec.weight, item.metadata.name]}
    - {name: late, apiVersion: example.com/v1, kind: Gadget, where: 'item.spec.?zone.orValue("") == "a" || elapsed(timestamp(item.spec.at), duration("10m"))'}
    - {name: firstOf, apiVersion: example.com/v1, kind: Gadget, where: 'item.spec.weight == 2', keyBy: 'item.spec.?zone.orValue("") + string(item.spec.weight)'}
  variables:
    - {name: items, expression: 'object.spec.?items.orValue([])'}
    - {name: broken, expression: 'object.spec.missing'}
    - name: known
      forEach: variables.items
      as: i
      variables:
        - {name: gadget, expression: 'inputs.byName[i.name]'}
        - {name: zone, expression: 'gadget.spec.?zone.orValue("none")'}
        - {name: near, expression: 'i.?zones.orValue([]).exists(z, z == zone)'}
      when: i.name in inputs.byName && (i.?any.orValue(false) || near)
      value: {name: "${i.name}", zone: "${zone}", others: "${size(inputs.byZone[?zone].orValue([]))}", weight: "${i.?weight}", part: "${inputs.parts[?i.name].orValue({}).?spec.size.orValue(0)}"}
      groupBy: zone
      orderBy: ['-i.?weight.orValue(0)', i.name]
    - name: late
      forEach: variables.items
      as: i
      variables: [{name: at, expression: 'i.?at.orValue("")'}]
      when: i.?any.orValue(false) || (at != "" && elapsed(timestamp(at), duration("10m")))
      value: '${i.name + i.?zones.orValue([]).map(z, z + "?").join()}'
    - name: zones
      forEach: variables.items
      as: i
      variables: [{name: zones, expression: 'i.?zones.orValue([]).filter(z, z != "a").map(z, z + "!")'}]
      when: size(zones) > 0 && (object.spec.type == "b" || i.name != "")
      value: ${zones[0]}
      unique: true
      orderBy: [value]
    - {name: few, forEach: variables.items, as: i, value: '${i.?zones.orValue(["b"])[0]}', unique: true, orderBy: ['i.?weight.orValue(0)', value]}
    - {name: texts, forEach: variables.items, as: i, when: 'object.spec.type == "c" && variables.broken', value: '${i.name}: ${i.?weight.orValue(0)}'}
    - {name: twice, forEach: variables.items, as: i, value: '${(i.name in inputs.byName) == (i.?zones.orValue(["b"])[0] in inputs.byName)}'}
    - {name: byItem, forEach: variables.items, as: i, keyBy: 'i.name + string(i.?weight.orValue(0))', value: '${i.?any}'}
    - {name: first, forEach: variables.items, as: i, when: 'variables.known.exists(z, z == i.name)'}
  rules:
    - {name: inputs, continueOnError: true, do: [{status: {heavy: "${inputs.heavy.map(g, g.metadata.name)}", late: "${inputs.late.map(g, g.metadata.name)}"}}]}
    - {name: firstOf, continueOnError: true, do: [{status: {firstOf: "${inputs.firstOf.transformMap(k, g, g.metadata.name)}"}}]}
    - {name: known, continueOnError: true, do: [{status: {known: "${variables.known}"}}]}
    - {name: late, continueOnError: true, do: [{status: {late: "${variables.late}"}}]}
    - {name: zones, continueOnError: true, do: [{status: {zones: "${variables.zones}"}}]}
    - {name: few, continueOnError: true, do: [{status: {few: "${variables.few}"}}]}
    - {name: texts, continueOnError: true, do: [{status: {texts: "${variables.texts}"}}]}
    - {name: twice, continueOnError: true, do: [{status: {twice: "${variables.twice}"}}]}
    - {name: byItem, continueOnError: true, do: [{status: {byItem: "${variables.byItem}"}}]}
    - {name: first, continueOnError: true, do: [{status: {first: "${variables.first}"}}]}
`

// makings writes objects at random.
type makings struct{ *rand.Rand }

func (m makings) of(list ...string) string { return list[m.IntN(len(list))] }

// item writes an item of a list, now and then one that cannot be worked with.
func (m makings) item() string {
	fields := []string{"name: " + m.of("a", "b", "c", "d", "e", "f", "g", "h")}
	if m.IntN(60) == 0 {
		fields = nil
	}
	for _, field := range []string{
		"any: true", "any: false", "zones: [a]", "zones: [b, a]", "zones: [b, none]", "weight: 1", "weight: 2", `at: "2026-03-01T12:0` + m.of("0", "3") + `:00Z"`,
	} {
		if m.IntN(3) == 0 && !strings.Contains(strings.Join(fields, ","), strings.SplitN(field, ":", 2)[0]+":") {
			fields = append(fields, field)
		}
	}
	if m.IntN(80) == 0 {
		fields = append(fields[:min(1, len(fields))], m.of("any: 1", "zones: a", "at: x", "weight: x"))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func (m makings) object() string {
	switch m.IntN(5) {
	case 0, 1:
		items := make([]string, 6+m.IntN(20))
		for i := range items {
			items[i] = m.item()
		}
		return fmt.Sprintf("{kind: Widget, metadata: {name: w}, spec: {type: %s, items: [%s]}}", m.of("a", "b", "c"), strings.Join(items, ", "))
	case 2:
		return fmt.Sprintf("{kind: Part, metadata: {name: %s}, spec: {size: %d}}", m.of("a", "b", "c"), m.IntN(3))
	}
	name := string('a' + rune(m.IntN(16)))
	return fmt.Sprintf("{kind: Gadget, metadata: {name: %s}, spec: {%s}}", name, m.of("zone: a", "zone: b, weight: 1", "zone: b", "zone: c, weight: 2", "weight: 3", "weight: x", `at: "2026-03-01T12:03:00Z"`, ""))
}

// TestColumns: collections over many items give what they give item by item, from
// nothing and after changes, and the key depends on all that it depends on then.
func TestColumns(t *testing.T) {
	t.Parallel()
	decisions := map[string]bool{}
	count := budget.Of(12, 30)
	for seed := range uint64(count) {
		checkColumns(t, seed, decisions)
	}
	if len(decisions) < 3*count {
		t.Errorf("only %d different decisions", len(decisions))
	}
}

// FuzzColumns is TestColumns for other seeds.
func FuzzColumns(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkColumns(t, seed, map[string]bool{}) })
}

// checkColumns compares the decisions about a world that changes at random, and collects
// them.
func checkColumns(t *testing.T, seed uint64, decisions map[string]bool) {
	t.Helper()
	m := makings{rand.New(rand.NewPCG(seed, 1))}
	b := newBench(t, columnsSpec, "{kind: Widget, metadata: {name: w}, spec: {type: a}}")
	for range 10 {
		b.put(m.object())
	}
	for step := range 25 {
		b.put(m.object())
		if m.IntN(3) > 0 {
			continue // several changes at once
		}
		at := now.Add(time.Duration(step) * time.Minute)
		decisions[strings.Join(told(b.decide(widget, at)), "\n")] = true
		b.depends(at)
		if t.Failed() {
			t.Fatalf("seed %d, step %d", seed, step)
		}
	}
}

// TestManyColumns: of more items than are computed at once, each gives what it gives
// alone, also where one of the last has no answer at once.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"", `, {name: z, at: "2026-03-01T11:55:00Z"}`, ", {zone: b}"} {
		b := newBench(t, `
  inputs:
    - {name: byName, apiVersion: example.com/v1, kind: Gadget, keyBy: item.metadata.name}
    - {name: byZone, apiVersion: example.com/v1, kind: Gadget, groupBy: 'item.spec.?zone.orValue("")'}
  variables:
    - name: known
      forEach: object.spec.items
      as: i
      variables: [{name: zone, expression: 'inputs.byName[?i.name].?spec.zone.orValue("none")'}]
      when: i.?zone.orValue("") != "" || elapsed(timestamp(i.at), duration("10m"))
      value: {name: "${i.name}", zone: "${zone}", others: "${size(inputs.byZone[?zone].orValue([]))}"}
      orderBy: [i.name]
`+do("{status: {known: '${variables.known}'}}"))
		items := make([]string, 300)
		for i := range items {
			items[i] = fmt.Sprintf("{name: g%d, zone: %c}", i*7%300, 'a'+i%3)
			if i%2 == 0 {
				b.put(fmt.Sprintf("{kind: Gadget, metadata: {name: g%d}, spec: {zone: %c}}", i, 'a'+i%2))
			}
		}
		b.put("{kind: Widget, metadata: {name: w}, spec: {items: [" + strings.Join(items, ", ") + last + "]}}")
		if d := b.decide(widget, now); (len(d.Problems) > 0) != strings.HasPrefix(last, ", {zone") {
			t.Errorf("with %q: %v", last, told(d))
		}
		b.depends(now)
	}
}

// depends reports what a decision looked up item by item, and not at once.
func (b *bench) depends(at time.Time) {
	b.t.Helper()
	in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: at}
	read := map[eval.Lookup]bool{}
	var columns, items eval.Memo
	eval.Evaluate(b.t.Context(), in, &columns)
	for _, l := range columns.Lookups() {
		read[l] = true
	}
	in.Judged = func(*cel.Program, bool) {} // which makes columns useless
	eval.Evaluate(b.t.Context(), in, &items)
	for _, l := range items.Lookups() {
		if !read[l] && !l.Ended {
			b.t.Errorf("%+v is not looked up", l)
		}
	}
}

// TestColumnsCost: many items cost at once what they cost one by one, also those of
// which none has an answer at once.
func TestColumnsCost(t *testing.T) {
	t.Parallel()
	for _, collection := range []string{
		`when: 'i.name == "a"', value: "${i.name}"`,
		`when: 'elapsed(timestamp(i.at), duration("10m"))', value: "${i.name}"`,
		`when: 'i.weight > 2', value: "${elapsed(timestamp(i.at), duration('10m'))}", orderBy: [i.weight]`,
		`when: 'i.zones.exists(z, z == "a")', value: {zones: "${i.zones.map(z, z + '!')}", weight: "${i.weight}"}, orderBy: [i.name]`,
		`variables: [{name: zone, expression: 'i.zones.filter(z, z != "b")[0]'}], when: 'zone == "a"', value: "${zone}"`,
	} {
		b := newBench(t, "  variables: [{name: x, forEach: object.spec.items, as: i, "+collection+"}]\n"+do("{status: {n: '${size(variables.x)}'}}"))
		items := make([]string, 600)
		for i := range items {
			items[i] = fmt.Sprintf(`{name: %c, zones: [a, b], weight: %d, at: "2026-03-01T11:55:00Z"}`, 'a'+i%2, i%4)
		}
		b.put("{kind: Widget, metadata: {name: w}, spec: {items: [" + strings.Join(items, ", ") + "]}}")
		in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}
		atOnce := eval.Evaluate(t.Context(), in, nil)
		in.Judged = func(*cel.Program, bool) {}
		if one := eval.Evaluate(t.Context(), in, nil); atOnce.Cost != one.Cost {
			t.Errorf("%s: costs %d, item by item %d", collection, atOnce.Cost, one.Cost)
		}
	}
}

// TestColumnsAreUsed: many items take less than half of the memory at once, also where
// a local variable is first needed in a loop, and where most do not meet the condition.
func TestColumnsAreUsed(t *testing.T) {
	for name, collection := range map[string]string{
		"a local variable in a loop": `{name: x, forEach: object.spec.items, as: i, variables: [{name: zone, expression: 'inputs.byName[i.name].spec.zone'}],
      when: 'i.zones.exists(z, z == zone) && i.name in inputs.byName', value: {name: "${i.name}", zone: "${zone}"}}`,
		"few that meet the condition": `{name: x, forEach: object.spec.items, as: i, variables: [{name: zone, expression: 'i.zones.filter(z, z != "b").map(z, z + "!")'}],
      when: 'i.name == "a" && i.weight == 0', value: {zone: "${zone}", gadget: "${inputs.byName[i.name].spec}"}}`,
	} {
		spec := "\n  inputs: [{name: byName, apiVersion: example.com/v1, kind: Gadget, keyBy: item.metadata.name}]\n  variables:\n    - " + collection + "\n" +
			do("{status: {n: '${size(variables.x)}'}}")
		b := newBench(t, spec, "{kind: Gadget, metadata: {name: a}, spec: {zone: a}}", "{kind: Gadget, metadata: {name: b}, spec: {zone: b}}")
		items := make([]string, 2000)
		for i := range items {
			items[i] = fmt.Sprintf("{name: %c, zones: [a, b], weight: %d}", 'a'+i%2, i%40)
		}
		b.put("{kind: Widget, metadata: {name: w}, spec: {items: [" + strings.Join(items, ", ") + "]}}")
		in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}
		atOnce := allocations.Fewest(func() { eval.Evaluate(t.Context(), in, nil) })
		in.Judged = func(*cel.Program, bool) {}
		one := allocations.Fewest(func() { eval.Evaluate(t.Context(), in, nil) })
		if 2*atOnce > one {
			t.Errorf("%s: %v allocations, item by item %v", name, atOnce, one)
		}
	}
}

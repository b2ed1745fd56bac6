package selection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/interpreter"
	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/fixture"
)

// names are the values of names that are no candidate's.
type names map[string]value.Value

// ResolveName implements expr.Scope.
func (n names) ResolveName(name string) (any, bool) {
	v, ok := n[name]
	return v, ok
}

// Parent implements expr.Scope.
func (names) Parent() interpreter.Activation { return nil }

// selectOf compiles a selection among the Nodes of an input.
func selectOf(t *testing.T, fields ...string) *plan.Select {
	t.Helper()
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n" +
		"  inputs: [{name: nodes, apiVersion: v1, kind: Node}]\n  rules:\n    - name: r\n      do:\n        - select:\n            " +
		strings.Join(fields, "\n            ") + "\n            then: [{labels: {set: {a: b}}}]\n"
	u := fixture.Contents("m", map[string]string{"p.yaml": text}).Units[0]
	result := fixture.Checker().Text(t.Context(), u)
	if result.Plan == nil {
		t.Fatal(result.Problems)
	}
	s, ok := result.Plan.Rules[0].Do[0].(*plan.Select)
	if !ok {
		t.Fatalf("the action is a %T", result.Plan.Rules[0].Do[0])
	}
	return s
}

// node is a Node with a label zone and addresses.
func node(name, zone string, addresses ...string) value.Value {
	list := make([]any, len(addresses))
	for i, a := range addresses {
		list[i] = map[string]any{"type": "x", "address": a}
	}
	return value.Freeze(map[string]any{
		"metadata": map[string]any{"name": name, "labels": map[string]any{"zone": zone}},
		"status":   map[string]any{"addresses": list},
	}, nil, value.KeepAll)
}

// verdicts answers a call: the names of candidates score their length, those that
// begin with "x" are excluded.
func verdicts(_ context.Context, r *expr.Request) (*expr.Response, error) {
	out := &expr.Response{}
	for _, c := range r.Candidates.All() {
		verdict := expr.Dropped
		if name := value.StringAt(c, "name"); !strings.HasPrefix(name, "x") {
			verdict = expr.Kept(int64(len(name)))
		}
		out.Verdicts = append(out.Verdicts, verdict)
	}
	return out, nil
}

// describe returns the winners with their scores, and what each step excluded.
func describe(o *selection.Outcome) string {
	if len(o.Winners) == 0 {
		return o.Summary(fmt.Sprintf("none of %d", o.Total))
	}
	var winners []string
	for _, w := range o.Winners {
		var parts []string
		for _, v := range w.Values {
			if m, ok := v.(*value.Map); ok {
				if metadata, ok := m.Lookup("metadata").(*value.Map); ok {
					parts = append(parts, value.StringAt(metadata, "name"))
					continue
				}
				parts = append(parts, value.StringAt(m, "address"))
			}
		}
		winners = append(winners, fmt.Sprintf("%s %d", strings.Join(parts, "/"), w.Score))
	}
	return o.Summary(fmt.Sprintf("%s of %d", strings.Join(winners, ", "), o.Total))
}

// TestSelection states what selections choose. The plain one, the shared one and the
// shared one that finds its candidates in the cache choose the same.
func TestSelection(t *testing.T) {
	t.Parallel()
	const all = "candidates: [{as: node, in: inputs.nodes}]"
	nodes := []value.Value{node("b", "one", "b1", "b2"), node("a", "one", "a1"), node("cc", "two"), node("xxx", "two", "x1")}
	for name, tc := range map[string]struct {
		fields []string
		want   string
	}{
		"the first without steps": {[]string{all}, "b 0 of 4"},
		"the first in an order":   {[]string{all, "orderBy: [node.metadata.name]"}, "a 0 of 4"},
		"a list in an order":      {[]string{"candidates: [{as: node, in: inputs.nodes, orderBy: [size(node.metadata.name) * -1]}]"}, "xxx 0 of 4"},
		"a filter": {[]string{all, "pipeline: [{filter: short, keep: size(node.metadata.name) > 1}]"},
			"cc 0 of 4; 2 excluded: short"},
		"two filters": {[]string{all, "pipeline: [{filter: short, keep: size(node.metadata.name) > 1}, {filter: long, keep: size(node.metadata.name) < 3}]"},
			"cc 0 of 4; 2 excluded: short; 1 excluded: long"},
		"a filter that is off":     {[]string{all, "pipeline: [{filter: short, when: size(inputs.nodes) > 9, keep: size(node.metadata.name) > 1}]"}, "b 0 of 4"},
		"no candidate is left":     {[]string{all, "pipeline: [{filter: any, keep: node.metadata.name == \"y\"}]"}, "none of 4; 4 excluded: any"},
		"points":                   {[]string{all, "pipeline: [{score: long, points: size(node.metadata.name)}]"}, "xxx 3 of 4"},
		"points of two steps":      {[]string{all, "pipeline: [{score: long, points: size(node.metadata.name)}, {score: named, points: 'node.metadata.name == \"b\" ? 9 : 0'}]"}, "b 10 of 4"},
		"equal points in an order": {[]string{all, "pipeline: [{score: same, points: '7'}]", "orderBy: [node.metadata.labels.zone, node.metadata.name]"}, "a 7 of 4"},
		"points of a group": {
			[]string{all, "pipeline: [{score: alone, groupBy: node.metadata.labels.zone, points: 'members.exists(m, m.node.metadata.name == \"cc\") ? 1 : 0'}]"},
			"cc 1 of 4",
		},
		"points by the size of a group": {
			[]string{all, "pipeline: [{filter: last, keep: node.metadata.name != \"xxx\"}, {score: alone, groupBy: node.metadata.labels.zone, points: 'size(members) < 2 ? 1 : 0'}]"},
			"cc 1 of 4; 1 excluded: last",
		},
		"preferred": {[]string{all, "pipeline: [{prefer: size(node.metadata.name), name: not the longest}]"}, "xxx 0 of 4; 3 excluded: not the longest"},
		"a call": {[]string{all, "pipeline: [{call: extender.filterAndScore, name: called, with: {reservationID: r, ttl: '${duration(\"1m\")}', size: 1}, candidate: {name: \"${node.metadata.name}\"}}]"},
			"cc 2 of 4; 1 excluded: called"},
		"the first two":       {[]string{all, "take: {max: 2}"}, "b 0, a 0 of 4; 2 excluded: max"},
		"more than there are": {[]string{all, "take: {max: '9'}"}, "b 0, a 0, cc 0, xxx 0 of 4"},
		"none":                {[]string{all, "take: {max: '-1'}"}, "none of 4; 4 excluded: max"},
		"the best two": {[]string{all, "pipeline: [{score: long, points: size(node.metadata.name)}]", "orderBy: [node.metadata.name]", "take: {max: '3'}"},
			"xxx 3, cc 2, a 1 of 4; 1 excluded: max"},
		"what fits": {[]string{all, "orderBy: [node.metadata.name]", "take: {weight: size(node.metadata.name), budget: '4'}"},
			"a 0, b 0, cc 0 of 4; 1 excluded: budget"},
		"nothing after what does not fit": {[]string{all, "orderBy: [-size(node.metadata.name), node.metadata.name]", "take: {weight: size(node.metadata.name), budget: '4'}"},
			"xxx 0 of 4; 3 excluded: budget"},
		"smaller ones after what does not fit": {[]string{all, "orderBy: [-size(node.metadata.name), node.metadata.name]", "take: {weight: size(node.metadata.name), budget: '4', skipTooLarge: true}"},
			"xxx 0, a 0 of 4; 2 excluded: budget"},
		"a budget that is exactly used":        {[]string{all, "take: {budget: '2'}"}, "b 0, a 0 of 4; 2 excluded: budget"},
		"a budget of less than nothing":        {[]string{all, "take: {weight: '0', budget: '-1'}"}, "none of 4; 4 excluded: budget"},
		"numbers that are not whole":           {[]string{all, "take: {weight: '0.5', budget: '1'}"}, "b 0, a 0 of 4; 2 excluded: budget"},
		"budget and max":                       {[]string{all, "take: {weight: size(node.metadata.name), budget: '4', max: '3', skipTooLarge: true}"}, "b 0, a 0, cc 0 of 4; 1 excluded: max"},
		"a weight of the candidate and others": {[]string{all, "take: {weight: size(node.metadata.name) * size(inputs.nodes), budget: '8'}"}, "b 0, a 0 of 4; 2 excluded: budget"},
		"what is left by the steps": {[]string{all, "pipeline: [{filter: b, keep: node.metadata.name != \"b\"}]", "take: {max: '1'}"},
			"a 0 of 4; 1 excluded: b; 2 excluded: max"},
		"two levels": {[]string{"candidates: [{as: node, in: inputs.nodes}, {as: address, in: 'node.?status.?addresses.orValue([])'}]",
			"pipeline: [{score: last, points: 'address.address == \"b2\" ? 1 : 0'}]"}, "b/b2 1 of 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meter := expr.NewMeter(t.Context())
			defer meter.Close()
			in := selection.Input{Select: selectOf(t, tc.fields...), Scope: names{"inputs.nodes": value.NewList(nodes)}, Meter: meter, Ask: verdicts}
			if !in.Select.Shared {
				t.Fatal("the selection is not shared, so the cache is not tested")
			}
			var got []string
			cache := &selection.Cache{}
			for _, c := range []*selection.Cache{nil, cache, cache} {
				in.Cache = c
				o, err := selection.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, describe(o))
			}
			if d := cmp.Diff([]string{tc.want, tc.want, tc.want}, got); d != "" {
				t.Errorf("plain, shared, cached; -want +got:\n%s", d)
			}
		})
	}
}

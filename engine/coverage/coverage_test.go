package coverage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/coverage"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/fixture"
)

const policy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Pod}
  inputs: [{name: nodes, apiVersion: v1, kind: Node}]
  variables:
    - {name: wanted, expression: 'key.name != "x" && !has(object.metadata.deletionTimestamp)'}
    - {name: ready, forEach: inputs.nodes, as: n, when: 'n.metadata.name != "c" || false'}
  rules:
    - name: choose
      when: variables.wanted
      do:
        - select:
            candidates: [{as: node, in: variables.ready, orderBy: [node.metadata.name]}]
            pipeline:
              - {filter: cordoned, keep: '!node.?spec.unschedulable.orValue(false)'}
              - {filter: never, keep: 'true'}
              - {score: by name, points: 'node.metadata.name == "a" ? 1 : 0'}
              - {score: nothing, points: '0'}
            then: [{annotations: {set: {node: "${node.metadata.name}"}}}]
        - select:
            candidates: [{as: several, in: variables.ready}]
            take: {max: 1}
            then: [{log: {message: "${several.metadata.name}"}}]
    - name: rows
      forEach: '["a", "b"]'
      as: letter
      cases:
        - {name: first, when: letter == "a", do: [{log: {message: a}}]}
        - {when: letter == "c", do: [{log: {message: c}}]}
        - {do: [{log: {message: other}}]}
`

const objects = `
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: n}}
---
{apiVersion: v1, kind: Node, metadata: {name: a}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}, spec: {unschedulable: true}}
`

// TestKinds: a point of a document for several kinds has come about if it has for one.
func TestKinds(t *testing.T) {
	t.Parallel()
	b := fixture.Compiled(t, `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Node}]}
  rules: [{name: r, when: object.kind == "Pod", do: [{labels: {set: {a: b}}}]}]
`)
	c := coverage.New()
	log := &record.Log{Seen: func(r *record.Record) { c.Observe(t.Context(), r) }}
	for _, p := range b.Policies {
		c.Know(p)
	}
	sim := simulate.New(t.Context(), simulate.Options{Policies: b.Policies, Schemas: b.Schemas, Objects: fixture.Objects(t, objects), Start: fixture.Start, Records: log})
	sim.Settle(t.Context())
	points := c.Points()
	for i := range points {
		if p := &points[i]; p.Policy != "p" || len(p.Missing()) > 0 {
			t.Errorf("%+v", p)
		}
	}
	if len(points) != 2 {
		t.Errorf("%+v", points)
	}
}

// TestPoints: what a decision uses is counted, and what it does not is known.
func TestPoints(t *testing.T) {
	t.Parallel()
	b := fixture.Compiled(t, policy)
	sim := fixture.Simulation(t, b, fixture.Objects(t, objects), &record.Log{Size: 10, Prefix: "r"})
	c := coverage.New()
	c.Know(b.Policies[0])
	c.Observe(t.Context(), sim.Controller("p").Reconcile(t.Context(), eval.Key{Namespace: "n", Name: "p"}, sim.Now()).Record)
	got := map[string]map[string]int{}
	for _, p := range c.Points() {
		if p.Line == 0 || p.Policy != "p" {
			t.Errorf("%+v has no place", p)
		}
		counts := map[string]int{}
		for _, o := range p.Outcomes {
			counts[o.Name] = min(o.Count, 1) // conditions are evaluated as often as they are read
		}
		got[string(p.Kind)+" "+p.Text] = counts
	}
	want := map[string]map[string]int{
		`rule choose`:                {"fired": 1, "skipped": 0},
		`rule rows`:                  {"fired": 1},
		`row first`:                  {"matched": 1},
		`row row 2`:                  {"matched": 0},
		`row row 3`:                  {"matched": 1},
		`condition variables.wanted`: {"true": 1, "false": 0},
		`condition key.name != "x"`:  {"true": 1, "false": 0},
		`condition letter == "a"`:    {"true": 1, "false": 1},
		`condition letter == "c"`:    {"true": 0, "false": 1},
		`condition has(object.metadata.deletionTimestamp)`: {"true": 0, "false": 1},
		`condition n.metadata.name != "c"`:                 {"true": 1, "false": 0},
		`step cordoned`:                                    {"kept": 1, "dropped": 1},
		`step never`:                                       {"kept": 1, "dropped": 0},
		`step by name`:                                     {"points": 1},
		`step nothing`:                                     {"points": 0},
		`step take`:                                        {"kept": 1, "dropped": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if covered, total := coverage.Count(c.Points()); covered != 17 || total != 26 {
		t.Errorf("%d of %d", covered, total)
	}
}

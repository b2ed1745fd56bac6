package probe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/probe"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

const policy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  params: {limit: 3}
  inputs:
    - {name: pods, apiVersion: v1, kind: Pod, where: item.spec.nodeName == key.name}
  variables:
    - {name: names, expression: "inputs.pods.map(p, p.metadata.name)"}
  rules:
    - {name: r, when: variables.names.size() > params.limit, do: [{labels: {set: {full: "true"}}}]}
`

func pod(name, node string) simulate.Object {
	return simulate.Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "n", "name": name, "labels": map[string]any{"app": name}}, "spec": map[string]any{"nodeName": node}}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func world() probe.World {
	node := simulate.Object{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "a", "labels": map[string]any{"zone": "z"}}}
	return probe.World{Schemas: schema.Builtin(), Objects: []simulate.Object{node, pod("x", "a"), pod("y", "b")}, Now: noon}
}

func unit(t *testing.T) *source.Unit {
	t.Helper()
	file, problems := load.Documents("p.yaml", []byte(policy))
	if document.HasErrors(problems) {
		t.Fatal(problems)
	}
	return &source.Unit{Document: file.Policies[0], File: load.Source{Path: "p.yaml", Text: []byte(policy)}}
}

// probed returns the policy with an expression more in the world, of which it has as much as
// a cluster is asked for.
func probed(t *testing.T, expression string) *probe.Probe {
	t.Helper()
	w := world()
	p, problems, err := probe.Compile(unit(t), expression, w.Schemas)
	if p == nil || err != nil {
		t.Fatal(problems, err)
	}
	reads, err := snapshot.New([]*plan.Policy{p})
	if err != nil {
		t.Fatal(err)
	}
	w.Objects = reads.Take(w.Objects)
	return probe.New(t.Context(), p, w)
}

// TestValue evaluates expressions as part of a policy: its names are known, and
// fields that no rule reads have values.
func TestValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		`variables.names`:                []any{"x"},
		`"it's " + key.name`:             "it's a",
		`params.limit + 1`:               int64(4),
		`object.metadata.labels`:         map[string]any{"zone": "z"},
		`inputs.pods[0].metadata.labels`: map[string]any{"app": "x"},
		`object.?spec.unschedulable`:     nil,
		`elapsed(timestamp("2026-03-01T11:00:00Z"), duration("30m"))`: true,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			p := probed(t, text)
			got, err := p.Value(t.Context(), eval.Key{Name: "a"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, value.Plain(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProblems: what is wrong with an expression is said at its place in it, also
// when it begins with a quote.
func TestProblems(t *testing.T) {
	t.Parallel()
	_, problems, err := probe.Compile(unit(t), `"a" + object.metadata.nam`, schema.Builtin())
	if err != nil || len(problems) == 0 {
		t.Fatal(problems, err)
	}
	want := document.Position{File: probe.Place, Line: 1, Column: 22}
	if problems[0].Position != want || problems[0].Hint != `did you mean "name"?` {
		t.Errorf("got %+v", problems[0])
	}
}

func TestNoSuchKey(t *testing.T) {
	t.Parallel()
	p := probed(t, "1")
	if _, err := p.Value(t.Context(), eval.Key{Name: "z"}); err == nil || err.Error() != "there is no Node z that the policy p decides about" {
		t.Error(err)
	}
	if key, err := p.OnlyKey(); err != nil || key.Name != "a" {
		t.Error(key, err)
	}
}

// TestAlone evaluates expressions outside of a policy.
func TestAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		`now`:   "2026-03-01T12:00:00Z",
		`1 + 2`: int64(3),
		`elapsed(timestamp("2026-03-01T11:00:00Z"), duration("30m"))`: true,
	} {
		got, problems, err := probe.Alone(t.Context(), text, noon)
		if got == nil || err != nil {
			t.Fatal(text, problems, err)
		}
		if diff := cmp.Diff(want, value.Plain(got)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if got, problems, err := probe.Alone(t.Context(), "object.x", noon); got != nil || err != nil || len(problems) != 1 {
		t.Errorf("object is known outside of a policy: %v, %v, %v", got, problems, err)
	}
}

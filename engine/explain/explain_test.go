package explain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/test/fixture"
)

const policy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: place}
spec:
  for: {apiVersion: v1, kind: Pod}
  inputs:
    - {name: nodes, apiVersion: v1, kind: Node, where: 'item.metadata.?labels.zone.orValue("") == object.metadata.namespace'}
  variables:
    - name: ready
      forEach: inputs.nodes
      as: n
      when: '!n.?spec.unschedulable.orValue(false)'
    - {name: open, expression: 'size(variables.ready) > 0 && !has(object.metadata.deletionTimestamp)'}
  rules:
    - name: choose
      when: variables.open
      do:
        - select:
            candidates: [{as: node, in: inputs.nodes, orderBy: [node.metadata.name]}]
            summary: "${total} nodes"
            pipeline:
              - {filter: cordoned, keep: '!node.?spec.unschedulable.orValue(false)'}
              - {score: by rank, points: 'int(node.metadata.labels.rank)'}
            then: [{annotations: {set: {node: "${node.metadata.name}"}}}]
            otherwise: [{annotations: {set: {node: null, why: "${summary}"}}}]
        - select:
            candidates: [{as: other, in: inputs.nodes}]
            summary: "${total} nodes"
            orderBy: ['int(other.metadata.labels.rank)']
            take: {weight: 'int(other.metadata.labels.rank)', budget: "2", skipTooLarge: true}
            then: [{log: {message: "${other.metadata.name}"}}]
    - {name: warn, when: '!variables.open', do: [{annotations: {set: {node: null}}}]}
`

const objects = `
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: east}}
---
{apiVersion: v1, kind: Pod, metadata: {name: lost, namespace: south}}
---
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {zone: east, rank: "1"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {zone: east, rank: "2"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: c, labels: {zone: east, rank: "9"}}, spec: {unschedulable: true}}
---
{apiVersion: v1, kind: Node, metadata: {name: d, labels: {zone: west, rank: "9"}}}
`

func decide(t *testing.T, key eval.Key, about string) (*plan.Policy, *record.Document) {
	t.Helper()
	b := fixture.Compiled(t, policy)
	sim := fixture.Simulation(t, b, fixture.Objects(t, objects), &record.Log{Size: 100, Prefix: "r"})
	r := sim.Controller("place").Reconcile(t.Context(), key, sim.Now()).Record
	return b.Policies[0], r.RenderAbout(t.Context(), about)
}

func TestText(t *testing.T) {
	t.Parallel()
	for file, key := range map[string]eval.Key{"chosen.golden.txt": {Namespace: "east", Name: "p"}, "none.golden.txt": {Namespace: "south", Name: "lost"}} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			p, doc := decide(t, key, "")
			var out strings.Builder
			if err := explain.Text(&out, p.Primary.Kind, doc); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", file)
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

// TestSentenceOfItems: the items stand beside the rule, and a part of the condition that
// fails is no reason where another one decides.
func TestSentenceOfItems(t *testing.T) {
	t.Parallel()
	b := fixture.Compiled(t, `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {apiVersion: v1, kind: Pod}
  inputs: [{name: nodes, apiVersion: v1, kind: Node, where: 'item.metadata.name in ["a", "b"]'}]
  variables:
    - {name: since, expression: 'object.metadata.?labels[?"since"].optMap(t, timestamp(t))'}
    - {name: free, expression: '!variables.since.hasValue() || elapsed(variables.since.value(), duration("1h"))'}
  rules: [{name: mark, when: variables.free, forEach: inputs.nodes, as: n, do: [{labels: {of: n, set: {x: "y"}}}]}]
`)
	sim := fixture.Simulation(t, b, fixture.Objects(t, objects), &record.Log{Size: 100, Prefix: "r"})
	r := sim.Controller("mark").Reconcile(t.Context(), eval.Key{Namespace: "east", Name: "p"}, sim.Now()).Record
	doc := r.Render(t.Context())
	got, want := explain.Sentence("Pod", doc), "Pod east/p: the rule \"mark\" applies to a and b because `variables.since.hasValue()` is false, and patches Node a and patches Node b; it was"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhyNot(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"a": {
			`the rule "choose": node a came 2nd: 1 point, node b has 2 (by rank 1, not 2)`,
			`the rule "choose": other a came 1st and was taken: takes 1 of the 2 left`,
			"Node a is in inputs.nodes: `item.metadata.?labels.zone.orValue(\"\") == object.metadata.namespace` is true",
			"a is in variables.ready: `n.?spec.unschedulable.orValue(false)` is false",
		},
		"b": {
			`the rule "choose": node b was chosen, with 2 points`,
			`the rule "choose": other b came 2nd and was not taken: budget: 1 of 2 left, needs 2`,
			"Node b is in inputs.nodes: `item.metadata.?labels.zone.orValue(\"\") == object.metadata.namespace` is true",
			"b is in variables.ready: `n.?spec.unschedulable.orValue(false)` is false",
		},
		"c": {
			`the rule "choose": node c was excluded by the step "cordoned"`,
			`the rule "choose": other c came 3rd and was not taken: budget: 1 of 2 left, needs 9`,
			"Node c is in inputs.nodes: `item.metadata.?labels.zone.orValue(\"\") == object.metadata.namespace` is true",
			"c is not in variables.ready: `n.?spec.unschedulable.orValue(false)` is true",
		},
		"d": {"Node d is not in inputs.nodes: `item.metadata.?labels.zone.orValue(\"\") == object.metadata.namespace` is false"},
		"z": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, doc := decide(t, eval.Key{Namespace: "east", Name: "p"}, name)
			if diff := cmp.Diff(want, explain.WhyNot(doc, name)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoCase: of an item for which no case holds the conditions are shown, and it is found by
// its key like one that has a case.
func TestNoCase(t *testing.T) {
	t.Parallel()
	b := fixture.Compiled(t, `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {apiVersion: v1, kind: Pod}
  inputs: [{name: nodes, apiVersion: v1, kind: Node, where: 'item.metadata.name in ["a", "b"]'}]
  rules:
    - name: mark
      forEach: inputs.nodes
      as: n
      cases:
        - {name: high, when: 'n.metadata.labels.rank == "2" && n.metadata.labels.zone == "east"', do: [{labels: {of: n, set: {x: "y"}}}]}
        - {name: other, when: 'n.metadata.labels.zone == "west"', do: []}
`)
	sim := fixture.Simulation(t, b, fixture.Objects(t, objects), &record.Log{Size: 100, Prefix: "r"})
	doc := sim.Controller("mark").Reconcile(t.Context(), eval.Key{Namespace: "east", Name: "p"}, sim.Now()).Record.Render(t.Context())
	const why = "`n.metadata.labels.rank == \"2\"` is false and `n.metadata.labels.zone == \"west\"` is false"
	if want := "Pod east/p: the rule \"mark\" applies to b, but no case holds for a because " + why + ", and patches Node b; it was"; !strings.HasPrefix(explain.Sentence("Pod", doc), want) {
		t.Errorf("got %s, want %s", explain.Sentence("Pod", doc), want)
	}
	for name, want := range map[string]string{"a": `the rule "mark" has no case for a: ` + why, "b": `the rule "mark" applies to b, with the case high`} {
		if diff := cmp.Diff([]string{want}, explain.WhyNot(doc, name)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	var out strings.Builder
	if err := explain.Text(&out, "Pod", doc); err != nil {
		t.Fatal(err)
	}
	if want := "             a: no case holds\n               n.metadata.labels.rank == \"2\" && "; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

// TestDeadlines: a time at which only a part changes that does not decide is no deadline.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	for first, want := range map[string]bool{"false": false, "true": true} {
		b := fixture.Compiled(t, `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: late}
spec:
  for: {apiVersion: v1, kind: Pod}
  variables: [{name: old, expression: 'elapsed(timestamp("2026-01-01T00:00:00Z"), duration("8760h"))'}]
  rules:
    - {name: mark, when: 'object.metadata.name.startsWith("p") == `+first+` && variables.old', do: [{log: {message: x}}]}
`)
		sim := fixture.Simulation(t, b, fixture.Objects(t, objects), &record.Log{Size: 100, Prefix: "r"})
		doc := sim.Controller("late").Reconcile(t.Context(), eval.Key{Namespace: "east", Name: "p"}, sim.Now()).Record.Render(t.Context())
		if got := len(doc.Deadlines) == 1; got != want || got != (doc.Next != nil) {
			t.Errorf("%s: deadlines %v, next %v", first, doc.Deadlines, doc.Next)
		}
	}
}

// TestWhyNotElsewhere: what is in another namespace than the primary object.
func TestWhyNotElsewhere(t *testing.T) {
	t.Parallel()
	b := fixture.Compiled(t, `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mates}
spec:
  for: {apiVersion: v1, kind: Pod}
  inputs: [{name: mates, apiVersion: v1, kind: Pod, where: item.metadata.name != key.name}]
  rules: [{name: count, do: [{log: {message: "${string(size(inputs.mates))}"}}]}]
`)
	sim := fixture.Simulation(t, b, fixture.Objects(t, objects), &record.Log{Size: 100, Prefix: "r"})
	r := sim.Controller("mates").Reconcile(t.Context(), eval.Key{Namespace: "east", Name: "p"}, sim.Now()).Record
	want := []string{"Pod south/lost is not in inputs.mates: it is in another namespace, and the input has no within: cluster"}
	if diff := cmp.Diff(want, explain.WhyNot(r.RenderAbout(t.Context(), "lost"), "lost")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package readmodel_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/test/fixture"
)

// compiled compiles a policy about Nodes.
func compiled(t *testing.T, spec string) *plan.Policy {
	t.Helper()
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n" + spec
	u := fixture.Contents("m", map[string]string{"p.yaml": text}).Units[0]
	result := fixture.Checker().Text(t.Context(), u)
	if result.Plan == nil {
		t.Fatal(result.Problems)
	}
	return result.Plan
}

// TestRequirements states what is kept for a policy: sources, the fields of their
// objects beside those of every object, and indexes.
func TestRequirements(t *testing.T) {
	t.Parallel()
	const mark = "  rules: [{name: r, when: 'WHEN', do: [{labels: {set: {a: b}}}]}]\n"
	when := func(text string) string { return strings.Replace(mark, "WHEN", text, 1) }
	pods := func(more string) string { return "  inputs: [{name: pods, apiVersion: v1, kind: Pod" + more + "}]\n" }
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"the primary object":       {when("object.spec.unschedulable"), []string{"Node: metadata.deletionTimestamp metadata.labels spec.unschedulable"}},
		"an input":                 {pods("") + when("inputs.pods.exists(p, p.status.phase == \"x\")"), []string{"Node: metadata.deletionTimestamp metadata.labels", "Pod: status.phase"}},
		"an input that is off":     {pods(", when: \"false\"") + when("true"), []string{"Node: metadata.deletionTimestamp metadata.labels"}},
		"an input in a namespace":  {pods(", namespace: '\"n\"'") + when("inputs.pods.size() > 0"), []string{"Node: metadata.deletionTimestamp metadata.labels", "Pod in n:"}},
		"a join by an index":       {pods(", where: 'item.spec.nodeName == key.name'") + when("inputs.pods.size() > 0"), []string{"Node: metadata.deletionTimestamp metadata.labels", "Pod: spec.nodeName; 1 index"}},
		"a second source of Nodes": {"  inputs: [{name: some, apiVersion: v1, kind: Node, selector: {matchLabels: {a: b}}}]\n" + when("inputs.some.exists(n, n.spec.podCIDR == \"x\")"), []string{"Node: metadata.deletionTimestamp metadata.labels spec.podCIDR", "Node a=b: metadata.deletionTimestamp metadata.labels spec.podCIDR"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range readmodel.Requirements(compiled(t, tc.spec)) {
				got = append(got, describe(&r))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// describe returns the source, the fields and the number of indexes of a requirement.
func describe(r *readmodel.Requirement) string {
	text := r.Source.Kind
	if r.Source.Namespace != "" {
		text += " in " + r.Source.Namespace
	}
	if r.Source.Selector != "" {
		text += " " + r.Source.Selector
	}
	text += ":"
	for _, top := range slices.Sorted(maps.Keys(r.Mask.Fields)) {
		for _, field := range slices.Sorted(maps.Keys(r.Mask.Fields[top].Fields)) {
			if field != "name" && field != "namespace" {
				text += " " + top + "." + field
			}
		}
	}
	if len(r.Indexes) > 0 {
		text += "; 1 index"
	}
	return text
}

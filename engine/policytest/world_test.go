package policytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// TestMisspelt: a field that a kind does not have, or of another type, is found at any
// depth, with what was probably meant; of kinds without a schema nothing is known.
func TestMisspelt(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	node := func(spec object) simulate.Object {
		return simulate.Object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "n", "labels": object{"any": "thing"}}, "spec": spec}
	}
	for name, tc := range map[string]struct {
		object simulate.Object
		want   string // "" is fine
	}{
		"right":         {node(object{"unschedulable": true, "taints": []any{object{"key": "a", "effect": "NoSchedule"}}}), ""},
		"a field":       {node(object{"unschedulabel": true}), `spec.unschedulabel, which the kind has not; did you mean "unschedulable"?`},
		"in a list":     {node(object{"taints": []any{object{"key": "a"}, object{"kye": "b"}}}), "spec.taints[].kye"},
		"a type":        {node(object{"unschedulable": "yes"}), `spec.unschedulable: "yes", which must be true or false`},
		"a type inside": {node(object{"taints": object{"key": "a"}}), "spec.taints: an object, which must be a list"},
		"nothing":       {node(object{"unschedulable": nil}), ""},
		"a kind":        {simulate.Object{"apiVersion": "v1", "kind": "Nod", "metadata": object{"name": "n"}}, `is of a kind that v1 has not; did you mean "Node"?`},
		"an open map":   {simulate.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "c", "namespace": "n"}, "data": object{"any": "thing"}}, ""},
		"unknown kinds": {simulate.Object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": object{"name": "w"}, "sepc": object{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := speller{schema.Builtin()}.world([]simulate.Object{tc.object})
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

const marking = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: mark
      when: object.?spec.unschedulable.orValue(false)
      do: [{labels: {set: {cordoned: "yes"}}}]
---
apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [.]
  objects: [{apiVersion: v1, kind: Node, metadata: {name: n}}]
  cases:
    - name: c
      `

// TestStepsThatShowNothing: what a step writes or breaks that can have no effect fails the
// case, with its place.
func TestStepsThatShowNothing(t *testing.T) {
	t.Parallel()
	cordon := "{patch: {apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulable: true}}}"
	for name, tc := range map[string]struct{ steps, want string }{
		"a right one":          {"steps: [" + cordon + "]", ""},
		"a patch":              {"steps: [{patch: {apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulabel: null}}}]", `.yaml:19:23: the Node n has spec.unschedulabel, which the kind has not; did you mean "unschedulable"?`},
		"an object":            {"steps: [{apply: {apiVersion: v1, kind: Node, metadata: {name: n, label: {a: b}}}}]", `has metadata.label, which the kind has not`},
		"a kind":               {"steps: [{apply: {apiVersion: v1, kind: Nod, metadata: {name: n}}}]", `is of a kind that v1 has not; did you mean "Node"?`},
		"absent, of no kind":   {"expect: {absent: [{apiVersion: v1, kind: Nodes, name: n}]}", "Nodes n is of a kind that v1 has not"},
		"absent, in none":      {"expect: {absent: [{apiVersion: v1, kind: Node, namespace: d, name: x}]}", "Node x has the namespace d: no object of the kind has one"},
		"absent, without one":  {"objects: [{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: d}}]\n      expect: {absent: [{apiVersion: v1, kind: Pod, name: p}]}", "Pod p needs a namespace: there is one in d"},
		"absent":               {"expect: {absent: [{apiVersion: v1, kind: Pod, namespace: d, name: p}, {apiVersion: example.com/v1, kind: Any, name: a}]}", ""},
		"a field of null":      {"expect: {objects: [{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {taint: null}}]}", `the Node n has spec.taint, which the kind has not; did you mean "taints"?`},
		"no field":             {"expect: {objects: [{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {taints: null}}]}", ""},
		"a fault":              {"steps: [{fail: {verb: patch, kind: Node}}, " + cordon + "]\n      expect: {errors: [injected]}", ""},
		"a fault's verb":       {"steps: [{fail: {verb: pach}}]", `there is no verb "pach"; did you mean "patch"?`},
		"a fault's field":      {"steps: [{fail: {vreb: patch}}]", `unknown field "vreb"`},
		"a fault of no write":  {"steps: [{fail: {verb: patch, kind: Pod}}, " + cordon + "]", ".yaml:19:22: nothing has failed because of this: no write was like it"},
		"a crash, and nothing": {"steps: [{fail: {crash: 1}}]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "p.yaml")
			if err := os.WriteFile(path, []byte(marking+tc.steps+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			report, err := Run(t.Context(), []string{path}, Options{})
			if err != nil || len(report.Cases) != 1 {
				t.Fatalf("%v, %+v", err, report)
			}
			got := strings.Join(report.Cases[0].Failures, "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestKindsOfOtherGroups: of a group that is not Kubernetes' own a kind may have no schema,
// unless it is spelt nearly as one that has.
func TestKindsOfOtherGroups(t *testing.T) {
	t.Parallel()
	custom := schema.NewSet(nil)
	custom.Add(schema.GVK{APIVersion: "example.com/v1", Kind: "Fleet"}, schema.Untyped())
	s := speller{schema.NewSet(custom)}
	for kind, want := range map[string]string{"Fleet": "", "Harbour": "", "Fleett": `is of a kind that example.com/v1 has not; did you mean "Fleet"?`} {
		err := s.kind(schema.GVK{APIVersion: "example.com/v1", Kind: kind})
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

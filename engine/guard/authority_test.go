package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// TestObeys: the fields whose values get into something protected, through inputs,
// variables, items and selections, without those that only decide.
func TestObeys(t *testing.T) {
	t.Parallel()
	const pod = `{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: "NAME"}, spec: {containers: [{name: c, image: "IMAGE"}]}}}`
	made := func(name, image string) string {
		return "      do: [" + strings.NewReplacer("NAME", name, "IMAGE", image).Replace(pod) + "]\n"
	}
	const pods = "  inputs: [{name: pods, apiVersion: v1, kind: Pod}, {name: sets, apiVersion: apps/v1, kind: Deployment, keyBy: item.metadata.labels.app}]\n"
	for name, tc := range map[string]struct {
		rule string
		want []string
	}{
		"a field":               {made("b", "${object.metadata.annotations.image}"), []string{"Node metadata.annotations.image: write spec.containers.image of Pod"}},
		"a part of a text":      {made("b", "r/${object.metadata.labels.image}:1"), []string{"Node metadata.labels.image: write spec.containers.image of Pod"}},
		"what is not written":   {made("b", "${object.spec.unschedulable ? 'a' : 'b'}"), nil},
		"a condition":           {"      when: object.metadata.labels.on == \"yes\"\n" + made("b", "c"), nil},
		"the name":              {made("${object.metadata.labels.id}", "c"), []string{"Node metadata.labels.id: write metadata.name of Pod"}},
		"its own name":          {made("${object.metadata.name}", "c"), nil},
		"an item":               {"      forEach: inputs.pods\n      as: pod\n" + made("b", "${pod.spec.containers[0].image}") + pods, []string{"Pod spec.containers.image: write spec.containers.image of Pod"}},
		"a key of a map":        {"      forEach: inputs.sets.map(k, k)\n      as: id\n" + made("b", "${id}") + pods, []string{"Deployment metadata.labels.app: write spec.containers.image of Pod"}},
		"a variable":            {made("b", "${variables.image}") + "  variables: [{name: image, expression: object.metadata.labels.image}]\n", []string{"Node metadata.labels.image: write spec.containers.image of Pod"}},
		"a template":            {"      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: \"${variables.spec}\"}}]\n  variables: [{name: spec, value: {containers: [{name: c, image: \"${object.metadata.labels.image}\"}]}}]\n", []string{"Node metadata.labels.image: write spec.containers.image of Pod"}},
		"a collection":          {"      forEach: variables.images\n      as: image\n" + made("b", "${image}") + pods + "  variables: [{name: images, forEach: inputs.pods, as: p, value: \"${p.metadata.labels.image}\"}]\n", []string{"Pod metadata.labels.image: write spec.containers.image of Pod"}},
		"a winner":              {"      do: [{select: {candidates: [{as: pod, in: inputs.pods}], summary: a, pipeline: [], then: [" + strings.NewReplacer("NAME", "b", "IMAGE", "${pod.metadata.labels.image}").Replace(pod) + "]}}]\n" + pods, []string{"Pod metadata.labels.image: write spec.containers.image of Pod"}},
		"the target of a scale": {"      do: [{scale: {of: {apiVersion: apps/v1, kind: Deployment, namespace: \"${object.metadata.labels.team}\", name: b}, replicas: 1}}]\n", []string{"Node metadata.labels.team: scale objects of kind Deployment"}},
		"a patch":               {"      do: [{patch: {value: {spec: {providerID: \"${object.metadata.labels.id}\"}, metadata: {labels: {other: \"${object.metadata.labels.x}\"}}}}}]\n", []string{"Node metadata.labels.id: write spec.providerID of Node"}},
		"what is open":          {"      do: [{labels: {set: {a: \"${object.metadata.labels.b}\"}}}]\n", nil},
		"the whole object":      {made("b", "${hash.sha256(json.encode(object))}"), []string{"Node *: write spec.containers.image of Pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, o := range (&guard.Guard{}).Obeys(policiesOf(t, header+tc.rule)[0]) {
				got = append(got, o.Kind+" "+o.Field+": "+o.Decides)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// policiesOf compiles the policies of documents.
func policiesOf(t *testing.T, text string) []*plan.Policy {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	return b.Policies
}

// TestPinnedPoliciesObeyOnlyPinnedOnes: what a pinned policy obeys is written only with an
// allowance that is pinned, and has to be closed.
func TestPinnedPoliciesObeyOnlyPinnedOnes(t *testing.T) {
	t.Parallel()
	const obeying = header + "      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: {containers: [{name: c, image: \"${object.metadata.annotations.image}\"}]}}}]\n"
	const writing = "\n---\n" + header + "      do: [{annotations: {set: {image: x, other: y}}}]\n"
	list := policiesOf(t, obeying+strings.Replace(writing, "name: p}", "name: w}", 1))
	makes := guard.Allowance{Policy: "p", Kind: "Pod", Field: "spec.containers.image", Pinned: true}
	closes := []guard.Closed{{Policy: "p", Kind: "Node", Field: "metadata.annotations.image"}}
	writes := guard.Allowance{Policy: "w", Kind: "Node", Field: "metadata.annotations.image"}
	writesPinned := writes
	writesPinned.Pinned = true
	const open = "the policy p is pinned, and takes from metadata.annotations.image of Node what it may write spec.containers.image of Pod: the installation has to close that field for other policies"
	const obeyed = "the policy w may not write metadata.annotations.image of Node, which the pinned policy p obeys (an allowance for it has to be pinned to a text); the installation can allow it"
	for name, tc := range map[string]struct {
		guard guard.Guard
		want  []string
	}{
		"not closed":                  {guard.Guard{Allowed: []guard.Allowance{makes}}, []string{open}},
		"closed":                      {guard.Guard{Allowed: []guard.Allowance{makes}, Closed: closes}, []string{obeyed}},
		"closed above":                {guard.Guard{Allowed: []guard.Allowance{makes}, Closed: []guard.Closed{{Policy: "p", Kind: "Node", Field: "metadata.annotations"}}}, []string{obeyed, strings.Replace(obeyed, ".image", ".other", 1), strings.Replace(obeyed, ".image", "", 1)}},
		"allowed, but not pinned":     {guard.Guard{Allowed: []guard.Allowance{makes, writes}, Closed: closes}, []string{obeyed}},
		"allowed and pinned":          {guard.Guard{Allowed: []guard.Allowance{makes, writesPinned}, Closed: closes}, nil},
		"another kind, another field": {guard.Guard{Allowed: []guard.Allowance{makes}, Closed: append([]guard.Closed{{Policy: "q", Kind: "Node", Field: "spec.taints"}, {Policy: "q", Kind: "Pod", Field: "metadata.annotations.image"}}, closes...)}, []string{obeyed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			tc.guard.Allowed = append(tc.guard.Allowed, guard.Allowance{Policy: "w", Kind: "Node", Field: "metadata.annotations"})
			for _, p := range list {
				for _, l := range tc.guard.Lacks(p) {
					got = append(got, l.Problem().Message)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

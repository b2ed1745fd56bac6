package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

var (
	pod  = schema.GVK{APIVersion: "v1", Kind: "Pod"}
	node = schema.GVK{APIVersion: "v1", Kind: "Node"}
)

func hold(gvk schema.GVK, namespace, finalizer string) analyze.FinalizerUse {
	return analyze.FinalizerUse{GVK: gvk, Scope: analyze.Scope{Namespace: analyze.ParamValue{Value: namespace}}, Finalizer: analyze.ParamValue{Value: finalizer}}
}

// TestTargets: the finalizers of a kind and namespace are looked for at once.
func TestTargets(t *testing.T) {
	t.Parallel()
	p := &plan.Policy{Name: "p", FinalizerUses: []analyze.FinalizerUse{
		hold(pod, "", "b"), hold(pod, "", "a"), hold(pod, "x", "a"), hold(node, "", ""), hold(pod, "", "a"),
	}}
	want := []*target{
		{policy: "p", GVK: node, owned: true}, {policy: "p", GVK: pod, names: []string{"b", "a"}}, {policy: "p", GVK: pod, namespace: "x", names: []string{"a"}},
	}
	if diff := cmp.Diff(want, targets(p), cmp.AllowUnexported(target{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const fields = `{"f:metadata": {"f:finalizers": {".": {}, "v:\"own/one\"": {}, "v:\"kubernetes.io/pvc-protection\"": {}}, "f:labels": {"f:a": {}}}}`

// TestMine: a finalizer belongs to the policy when its text names it, or when
// only an evaluation tells and its manager owns it.
func TestMine(t *testing.T) {
	t.Parallel()
	o := &metav1.PartialObjectMetadata{}
	o.Finalizers = []string{"own/one", "foreign/two", "named/three", "kubernetes.io/pvc-protection"}
	o.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "edict/p", FieldsV1: metav1.NewFieldsV1(fields)},
		{Manager: "other", FieldsV1: metav1.NewFieldsV1(strings.ReplaceAll(fields, "own/one", "foreign/two"))},
		{Manager: "edict/p"}, {Manager: "edict/p", FieldsV1: metav1.NewFieldsV1("{")},
	}
	for name, tc := range map[string]struct {
		target target
		want   []string
	}{
		"named":           {target{policy: "p", names: []string{"named/three", "absent"}}, []string{"named/three"}},
		"owned":           {target{policy: "p", owned: true}, []string{"own/one"}},
		"both":            {target{policy: "p", owned: true, names: []string{"named/three"}}, []string{"own/one", "named/three"}},
		"another's owned": {target{policy: "q", owned: true}, nil},
	} {
		if diff := cmp.Diff(tc.want, tc.target.mine(o)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestRemoval: the last goes first, and each is tested.
func TestRemoval(t *testing.T) {
	t.Parallel()
	got := string(removal([]string{"a", "b", "c"}, []string{"a", "c"}))
	want := `[{"op":"test","path":"/metadata/finalizers/2","value":"c"},{"op":"remove","path":"/metadata/finalizers/2"},` +
		`{"op":"test","path":"/metadata/finalizers/0","value":"a"},{"op":"remove","path":"/metadata/finalizers/0"}]`
	if got != want {
		t.Errorf("the patch is %s, want %s", got, want)
	}
	if removal([]string{"a"}, []string{"b"}) != nil {
		t.Error("there is a patch although there is nothing to remove")
	}
}

package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

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

// TestTargets: the finalizers of a kind and namespace are searched together.
func TestTargets(t *testing.T) {
	t.Parallel()
	p := &plan.Policy{Name: "p", FinalizerUses: []analyze.FinalizerUse{
		hold(pod, "", "b"), hold(pod, "", "a"), hold(pod, "x", "a"), hold(node, "", ""), hold(pod, "", "a"),
	}}
	of := func(kind, namespace, name string) Finalizer {
		return Finalizer{kschema.GroupKind{Kind: kind}, namespace, name}
	}
	want := []*target{
		{"p", of("Node", "", Owned), []string{Owned}}, {"p", of("Pod", "", "a"), []string{"a", "b"}}, {"p", of("Pod", "x", "a"), []string{"a"}},
	}
	got := targets("p", CountsIn(CountsOf(p).Status()))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	listed := Counts{of("Node", "", Owned): 1}
	if diff := cmp.Diff(listed, got[0].listed([]string{"one", "two"})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const fields = `{"f:metadata": {"f:finalizers": {".": {}, "v:\"own/one\"": {}, "v:\"kubernetes.io/pvc-protection\"": {}}, "f:labels": {"f:a": {}}}}`

// TestMine: a finalizer belongs to the policy when its text names it, or when
// it is computed and its manager owns it.
func TestMine(t *testing.T) {
	t.Parallel()
	o := &metav1.PartialObjectMetadata{}
	o.Finalizers = []string{"own/one", "foreign/two", "named/three", "kubernetes.io/pvc-protection"}
	o.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "edict/s/p", FieldsV1: metav1.NewFieldsV1(fields)},
		{Manager: "other", FieldsV1: metav1.NewFieldsV1(strings.ReplaceAll(fields, "own/one", "foreign/two"))},
		{Manager: "edict/s/p"}, {Manager: "edict/s/p", FieldsV1: metav1.NewFieldsV1("{")},
	}
	for name, tc := range map[string]struct {
		target target
		want   []string
	}{
		"named":               {target{policy: "s/p", names: []string{"named/three", "absent"}}, []string{"named/three"}},
		"owned":               {target{policy: "s/p", names: []string{Owned}}, []string{"own/one"}},
		"owned by the set":    {target{policy: "s/", names: []string{Owned}}, []string{"own/one"}},
		"both":                {target{policy: "s/p", names: []string{"named/three", Owned}}, []string{"own/one", "named/three"}},
		"another's owned":     {target{policy: "s/pq", names: []string{Owned}}, nil},
		"another set's owned": {target{policy: "t/", names: []string{Owned}}, nil},
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

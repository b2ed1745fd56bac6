package compile

import (
	"testing"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// TestTargets: an object that an action names is watched by its place, unless all
// objects of its kind are watched anyhow; the same place is one target.
func TestTargets(t *testing.T) {
	t.Parallel()
	pod, node, secret := schema.GVK{APIVersion: "v1", Kind: "Pod"}, schema.GVK{APIVersion: "v1", Kind: "Node"}, schema.GVK{APIVersion: "v1", Kind: "Secret"}
	off, named := &plan.Input{Source: world.Source{GVK: secret}, Off: true}, &plan.Input{Source: world.Source{GVK: secret}}
	named.Named.Name.Value = "x"
	o := &objects{inputs: []*plan.Input{{Source: world.Source{GVK: node}}, off, named}}
	o.primary.GVK, o.primary.Source.GVK = pod, pod
	at := analyze.Scope{Namespace: analyze.ParamValue{Value: "a"}, Name: analyze.ParamValue{Value: "b"}}
	for _, tc := range []struct {
		gvk    schema.GVK
		at     analyze.Scope
		target int
		source world.Source
	}{
		{pod, at, 0, world.Source{GVK: pod}},
		{node, at, 1, world.Source{GVK: node}},
		{secret, at, 2, world.Source{GVK: secret, Namespace: "a", Name: "b"}},
		{secret, at, 2, world.Source{GVK: secret, Namespace: "a", Name: "b"}},
		{secret, analyze.Scope{}, 3, world.Source{GVK: secret}},
	} {
		root := o.target(tc.gvk, tc.at)
		if root != targetRoot(tc.target) || o.targets[root.Index].Source != tc.source || o.kind(root) != tc.gvk {
			t.Errorf("%s at %+v: root %+v, source %+v", tc.gvk, tc.at, root, o.targets[root.Index].Source)
		}
	}
}

// TestPlaces: primary objects are where the policy looks for them, members of an
// input where it does, and others where an action names them.
func TestPlaces(t *testing.T) {
	t.Parallel()
	place := func(namespace string) analyze.ParamValue { return analyze.ParamValue{Value: namespace} }
	o := &objects{}
	o.primary.Within = place("primary")
	in := &plan.Input{Name: "in", Off: true}
	in.Narrow.Namespace = place("input")
	root := o.addInput(in)
	o.target(schema.GVK{Kind: "Pod"}, analyze.Scope{})
	named := analyze.Scope{Namespace: place("action")}
	for of, want := range map[analyze.Root]analyze.Scope{
		analyze.Object: {Namespace: place("primary")}, root: {Namespace: place("input"), Input: "in"}, targetRoot(0): named,
	} {
		if got := o.place(of, named); got != want {
			t.Errorf("%+v is at %+v, want %+v", of, got, want)
		}
	}
	if !o.off(root) || o.off(analyze.Object) {
		t.Error("the input is off, and nothing else")
	}
}

// TestSaid: an action is one thing; once says how, not what.
func TestSaid(t *testing.T) {
	t.Parallel()
	entries := []v1alpha1.Entry[v1alpha1.Template]{{}}
	for name, tc := range map[string]struct {
		action v1alpha1.Action
		want   saying
	}{
		"nothing":     {v1alpha1.Action{}, saying{}},
		"a list":      {v1alpha1.Action{Status: entries}, saying{"status", 1}},
		"an apply":    {v1alpha1.Action{Apply: &v1alpha1.Template{}, Once: []v1alpha1.Text{{}}}, saying{"apply", 1}},
		"once alone":  {v1alpha1.Action{Once: []v1alpha1.Text{{}}}, saying{"once", 0}},
		"two at once": {v1alpha1.Action{Labels: &v1alpha1.MapAction{}, Log: &v1alpha1.LogAction{}}, saying{"labels", 2}},
	} {
		if got := said(&tc.action); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

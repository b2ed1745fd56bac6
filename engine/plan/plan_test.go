package plan

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// TestLimit: what a limit comes to, and how it is written.
func TestLimit(t *testing.T) {
	t.Parallel()
	sizes := map[int]int{-1: 200, 0: 50, 1: 3}
	for text, tc := range map[string]struct {
		limit Limit
		want  int64
	}{
		"7 per 1m0s":          {Limit{PerWindow: 7, Window: time.Minute}, 7},
		"10% or 5 per 1h0m0s": {Limit{PerWindow: 10, Window: time.Hour, PerCentOf: ObjectsOfPolicy, Input: -1, AtLeast: 5}, 20},
		"10% or 6 per 1m0s":   {Limit{PerWindow: 10, Window: time.Minute, PerCentOf: "inputs.x", Input: 0, AtLeast: 6}, 6},
		"50% or 0 per 1m0s":   {Limit{PerWindow: 50, Window: time.Minute, PerCentOf: "inputs.y", Input: 1}, 1},
	} {
		if got := tc.limit.Value(func(i int) int { return sizes[i] }); got != tc.want || tc.limit.String() != text {
			t.Errorf("%s is %s and comes to %d, want %d", text, &tc.limit, got, tc.want)
		}
	}
}

// TestIncludes: an access includes another one of the same verb and kind in the
// same place, or a narrower one.
func TestIncludes(t *testing.T) {
	t.Parallel()
	pods := schema.GVK{APIVersion: "v1", Kind: "Pod"}
	all := Access{GVK: pods, Verb: "get"}
	within, one := all, all
	within.Namespace, one.Namespace, one.Name = "a", "a", "x"
	status, patch, byParam := all, all, all
	status.Subresource, patch.Verb, byParam.Namespace, byParam.Param = "status", "patch", "a", "space"
	for _, tc := range []struct {
		a, b Access
		want bool
	}{
		{all, all, true}, {all, within, true}, {all, one, true}, {within, one, true}, {one, within, false}, {within, all, false},
		{all, status, false}, {status, all, false}, {all, patch, false}, {within, byParam, false}, {all, byParam, true},
	} {
		if got := tc.a.Includes(tc.b); got != tc.want {
			t.Errorf("%+v includes %+v: %v", tc.a, tc.b, got)
		}
	}
}

// TestAccesses: what another access includes is left out, in Shadow mode nothing
// is written, and an input that is off needs nothing now.
func TestAccesses(t *testing.T) {
	t.Parallel()
	pods, nodes := schema.GVK{APIVersion: "v1", Kind: "Pod"}, schema.GVK{APIVersion: "v1", Kind: "Node"}
	p := &Policy{
		Primary: Primary{GVK: nodes}, Inputs: []*Input{{Name: "off", Off: true, Source: world.Source{GVK: pods}}},
		Writes: []analyze.Write{
			{GVK: nodes, Verb: analyze.WritePatch, Scope: analyze.Scope{Name: analyze.ParamValue{Value: "x"}}},
			{GVK: nodes, Verb: analyze.WritePatch},
		},
	}
	for name, tc := range map[string]struct {
		settings Settings
		mode     Mode
		want     int
	}{
		"in force": {InForce, Enforce, 4}, "in Shadow mode": {InForce, Shadow, 3}, "of any setting": {Any, Enforce, 7}, "of any setting, in Shadow mode": {Any, Shadow, 7},
	} {
		p.Mode = tc.mode
		if got := p.Accesses(tc.settings); len(got) != tc.want {
			t.Errorf("%s: %+v, want %d", name, got, tc.want)
		}
	}
}

// TestSelects: a policy decides about objects of its selector and namespaces, and
// about those that have left it with one of its finalizers.
func TestSelects(t *testing.T) {
	t.Parallel()
	of, err := selector.Parse(value.OfString("mine=yes"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Primary{Selector: of, Namespaces: []string{"a"}, Follows: true, Finalizers: []string{"example.com/f"}}
	object := func(namespace, mine string, finalizers ...any) *world.Object {
		metadata := map[string]any{"namespace": namespace, "labels": map[string]any{"mine": mine}, "finalizers": finalizers}
		v, _ := value.Freeze(map[string]any{"metadata": metadata}, nil, value.KeepAll).(*value.Map)
		return world.NewObject(world.MustIdentify(schema.GVK{}, namespace, "x"), "u", v, world.Version{})
	}
	for name, tc := range map[string]struct {
		object         *world.Object
		selects, leave bool
	}{
		"one of them":                   {object("a", "yes"), true, false},
		"in another namespace":          {object("b", "yes", "example.com/f"), false, false},
		"without the label":             {object("a", "no"), false, false},
		"left with the finalizer":       {object("a", "no", "other/f", "example.com/f"), false, true},
		"left with another's finalizer": {object("a", "no", "other/f"), false, false},
	} {
		if got, left := p.Selects(tc.object), p.Left(tc.object); got != tc.selects || left != tc.leave {
			t.Errorf("%s: selects %v, left %v", name, got, left)
		}
	}
}

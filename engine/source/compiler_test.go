package source

import (
	"context"
	"fmt"
	"testing"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// TestCompiler: what was compiled is kept by the text and the types, and if that is too much,
// what was not used for longest is dropped.
func TestCompiler(t *testing.T) {
	t.Parallel()
	asked := 0
	c := NewCompiler(nil, func(context.Context, *Unit, *schema.Set) error { asked++; return nil })
	unit := func(name string) *Unit {
		return Read(nil, &ConfigMap{Name: "m", Data: map[string]string{"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name +
			"}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{labels: {set: {a: b}}}]}]\n"}}).Units[0]
	}
	types := schema.NewSet(schema.Builtin())
	compile := func(u *Unit, want int) *plan.Policy {
		t.Helper()
		p, problems, err := c.Compile(t.Context(), u, types)
		if err != nil || p == nil || asked != want {
			t.Fatalf("%s: %d compilations, want %d: %v, %v", u.Name(), asked, want, err, problems)
		}
		return p
	}
	a := unit("a")
	compile(a, 1)
	disabled := *a
	disabled.Mode = "Disabled"
	if compile(&disabled, 1).Mode != plan.Disabled || compile(unit("a"), 1).Mode == plan.Disabled {
		t.Error("the mode of one unit is that of another")
	}
	if err := types.AddCRD([]byte(`{"kind": "CustomResourceDefinition", "spec": {"group": "a.io", "names": {"kind": "A", "plural": "as"}, "versions": [{"name": "v1"}]}}`)); err != nil {
		t.Fatal(err)
	}
	compile(a, 2)
	for i := range 3 {
		u := unit(fmt.Sprint("b", i))
		compile(u, 3+i)
		c.keep(u.digest(digestOf(types)), &result{plan: &plan.Policy{Kept: plan.MaxKeptOfOne / 3}})
		compile(a, 3+i)
	}
	if got := c.kept.Len(); got > 4 || c.size.Load() > plan.MaxKeptOfOne {
		t.Errorf("%d are kept, %d bytes", got, c.size.Load())
	}
	compile(unit("b0"), 6)
	if got := c.compilers.Len(); got != 2 {
		t.Errorf("there are %d compilers for two sets of types", got)
	}
}

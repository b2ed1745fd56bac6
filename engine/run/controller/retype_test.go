package controller

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

// TestRetype: what was found in a text without the types of its kinds is no longer
// reported when it was compiled by them, be it right or not.
func TestRetype(t *testing.T) {
	t.Parallel()
	good := fixture.Policy("p", "a")
	for text, wrong := range map[string]string{good: "", strings.Replace(good, `"a"`, `"${object.spec.nothing}"`, 1): "it does not fit the cluster's schemas"} {
		u := fixture.Contents("m", map[string]string{"p.yaml": text}).Units[0]
		p, problems, err := source.NewCompiler(nil, nil).Compile(t.Context(), u, schema.NewSet(nil))
		if err != nil || p == nil || len(problems) == 0 || !strings.HasPrefix(problems[0].Message, "no schema is known for v1 Node") {
			t.Fatal(p, problems, err)
		}
		policies := lifecycle.NewRegistry()
		policies.Check("p", &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u, Plan: p}, Problems: problems})
		c := &controller{compiler: source.NewCompiler(nil, nil), id: "p", log: fixture.Log(), policies: policies, kinds: fixture.Kinds(), group: reconcile.NewGroup(world.NewStore(), nil, schema.NewSet(nil))}
		_, err = c.retype(t.Context(), &lifecycle.Revision{Unit: u, Plan: p})
		if (err != nil) != (wrong != "") || err != nil && !strings.HasPrefix(err.Error(), wrong) {
			t.Errorf("%v, want %q", err, wrong)
		}
		if v := policies.Get("p").Newest; len(v.Problems) > 0 || !v.Good() {
			t.Errorf("%+v is still reported", v.Problems)
		}
	}
}

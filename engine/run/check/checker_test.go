package check_test

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestCheckedOnce: a result stays while the text does, a panic is an error of its
// policy, and a refused text is checked again on demand.
func TestCheckedOnce(t *testing.T) {
	t.Parallel()
	policies := lifecycle.NewRegistry()
	all := func(c *check.Checker, text string) *lifecycle.CheckResult {
		catalog := source.NewCatalog([]*source.Contents{fixture.Contents("m", map[string]string{"p.yaml": text})}, nil)
		c.All(t.Context(), catalog, policies, func(string, *source.Unit) bool { return false })
		return policies.Get("m/p").Newest
	}
	broken := fixture.Policy("p", "${nothing.at.all}")
	c := fixture.Checker()
	first := all(c, broken)
	if all(c, broken) != first {
		t.Error("it is checked twice")
	}
	moved := all(c, "# a remark\n"+broken)
	if moved.Problems[0].Line != first.Problems[0].Line+1 {
		t.Errorf("the error is in line %d, %d before", moved.Problems[0].Line, first.Problems[0].Line)
	}
	policies.Recheck("m/p")
	if again := all(c, "# a remark\n"+broken); again == moved || again.Recheck != lifecycle.Rechecked {
		t.Error("it is not checked again")
	}
	panics := check.New(check.Options{Kinds: discovery.New(nil, nil, schema.NewSet(schema.Builtin()), time.Second), Guard: func() guard.Guard { return guard.New(nil).Assuming() }, Log: fixture.Log()})
	if v := all(panics, fixture.Policy("p", "a")); v.Good() || !strings.Contains(v.Problems[0].Message, "internal error (panic)") {
		t.Errorf("%+v", v)
	}
}

// TestRefusedSaysNothingOfTypes: which types the cluster has is not known yet when a text
// has an error.
func TestRefusedSaysNothingOfTypes(t *testing.T) {
	t.Parallel()
	text := strings.Replace(fixture.Policy("p", "${nothing.at.all}"), "apiVersion: v1, kind: Node", "apiVersion: example.com/v1, kind: Site", 1)
	v := fixture.Checker().Text(t.Context(), fixture.Contents("m", map[string]string{"p.yaml": text}).Units[0])
	if v.Good() || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Message, `undefined name "nothing"`) {
		t.Errorf("%+v", v.Problems)
	}
}

// TestDisabledIsNotCompiled: a disabled text has no effect, whatever it is.
func TestDisabledIsNotCompiled(t *testing.T) {
	t.Parallel()
	u := fixture.Contents("m", map[string]string{"p.yaml": strings.Replace(fixture.Policy("p", "x"), "kind: Node", "kind: NoKind", 1)}).Units[0]
	u.Mode = "Disabled"
	v := fixture.Checker().Text(t.Context(), u)
	if !v.Disabled() || v.Plan != nil || v.Good() {
		t.Errorf("%+v", v)
	}
}

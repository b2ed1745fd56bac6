package properties

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/verify"
	"github.com/edict-dev/edict/test/worlds"
)

// TestShippedPoliciesInSmallWorlds explores the shipped policies together, as far as it
// takes seconds; make verify-policies goes further.
func TestShippedPoliciesInSmallWorlds(t *testing.T) {
	t.Parallel()
	for _, w := range []struct {
		world            string
		perKind, changes int
		// states is how many there are at least: fewer would say that little happens.
		states int
	}{
		{"restarts", 2, 1, 20},
		{"modules", 2, 0, 5},
		{"storage", 2, 0, 20},
	} {
		t.Run(w.world, func(t *testing.T) {
			t.Parallel()
			b, err := source.Load([]string{filepath.Join("..", "..", "policies")}, source.Options{})
			if err != nil || b.Err() != nil {
				t.Fatal(err, b.Err())
			}
			folder := filepath.Join("..", "..", "examples", w.world)
			objects, err := simulate.ReadObjects(folder, simulate.AnswersIn(folder))
			if err != nil {
				t.Fatal(err)
			}
			r, err := verify.Run(t.Context(), verify.Options{
				Policies: b.Policies, Schemas: b.Schemas, Guard: guard.New(b.Allowances).Assuming(), Objects: objects, Start: worlds.Start,
				PerKind: w.perKind, Changes: w.changes, MayForget: []string{"configmap-restart", "secret-restart"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) > 0 || r.Explored.States < w.states || r.Explored.Open > 0 {
				t.Errorf("found %+v in %+v", r.Findings, r.Explored)
			}
		})
	}
}

// mutations are mistakes in shipped policies that keep them from coming to one end, and
// what each is found as. Of a mistake that is consistent nothing is to be found: the
// policy then does something else, and does it well.
var mutations = []struct {
	policy, world string
	changes       int
	old, new      string
	kind          verify.Kind
}{
	{"agent-node-label", "storage", 1, `{"${params.label}": ""}`, `{"${params.label}": '${object.metadata.?labels[?params.label].orValue("") == "x" ? "y" : "x"}'}`, verify.Oscillation},
	{"agent-node-label", "storage", 1, `{set: {"${params.label}": null}}`, `{set: {n: '${object.metadata.?labels.?n.orValue("") == "x" ? "y" : "x"}'}}`, verify.Oscillation},
	{"agent-node-label", "storage", 1, `size(inputs.pools) > 0`, `object.metadata.labels[params.label] == ""`, verify.Failed},
	{"agent-node-label", "storage", 2, `when: variables.wanted`, `when: variables.wanted && initial`, verify.Crash},
	{"agent-node-label", "storage", 2, `{"${params.label}": ""}`, `{"${params.label}": '${initial ? "" : "late"}'}`, verify.Crash},
	{"configmap-restart", "restarts", 1, `variables.env == ""`, `object.metadata.labels["env"] == ""`, verify.Failed},
	{"configmap-restart", "restarts", 1, `workload.?spec.template.metadata.annotations.orValue({})`, `workload.spec.template.metadata.annotations`, verify.Failed},
}

func TestMutationsAreFound(t *testing.T) {
	t.Parallel()
	found := 0
	for _, m := range mutations {
		folder := t.TempDir()
		text, err := os.ReadFile(filepath.Join("..", "..", "policies", m.policy+".yaml"))
		if err != nil || !strings.Contains(string(text), m.old) {
			t.Fatalf("%s has no %q: %v", m.policy, m.old, err)
		}
		if err := os.WriteFile(filepath.Join(folder, "policy.yaml"), []byte(strings.ReplaceAll(string(text), m.old, m.new)), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := source.Load([]string{folder}, source.Options{Schemas: []string{filepath.Join("..", "..", "policies", "schemas")}})
		if err != nil || b.Err() != nil {
			t.Fatal(m.new, err, b.Err())
		}
		at := filepath.Join("..", "..", "examples", m.world)
		objects, err := simulate.ReadObjects(at, simulate.AnswersIn(at))
		if err != nil {
			t.Fatal(err)
		}
		r, err := verify.Run(t.Context(), verify.Options{Findings: 1, Policies: b.Policies, Schemas: b.Schemas, Guard: guard.Guard{Assume: true}, Objects: objects, Start: worlds.Start, PerKind: 1, Changes: m.changes, States: 2000, MayForget: []string{"configmap-restart"}})
		switch {
		case err != nil:
			t.Fatal(err)
		case len(r.Findings) == 0:
			t.Errorf("%s with %q: nothing is found in %+v", m.policy, m.new, r.Explored)
		case r.Findings[0].Kind != m.kind:
			t.Errorf("%s with %q: found as %s: %s", m.policy, m.new, r.Findings[0].Kind, r.Findings[0].Message)
		default:
			found++
		}
	}
	t.Logf("%d of %d are found", found, len(mutations))
}

package chart

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/source"
)

// TestRenderedPoliciesAreRead: what helm template prints can be given to the commands that
// read policies, with the values of the params.
func TestRenderedPoliciesAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rendered.yaml")
	text := template(t, "--set", "params.replica-scheduling.attachToBonus=7", "--set", "policies.secret-restart.enabled=true", "--set", "defaultMode=Enforce")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{file}, source.Options{Schemas: []string{filepath.Join(root, "policies", "schemas")}})
	if err != nil {
		t.Fatal(err)
	}
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	want, err := source.Load([]string{filepath.Join(root, "policies")}, source.Options{Params: compile.TypedOverrides(map[string]map[string]string{"replica-scheduling": {"attachToBonus": "7"}}, source.Typed)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hashes(want), hashes(b)); diff != "" {
		t.Errorf("policies (-files +rendered):\n%s", diff)
	}
}

// hashes are those of what policies decide, by name.
func hashes(b *source.Bundle) (out []string) {
	for _, p := range b.Policies {
		out = append(out, p.Name+" "+p.Graph.Hash())
	}
	slices.Sort(out)
	return out
}

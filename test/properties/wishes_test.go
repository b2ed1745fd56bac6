package properties

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/policytest"
)

// wishes are the edits of examples/edits: the tests of the policy that one changes, and
// the cases of those that decide otherwise with it.
var wishes = map[string]struct {
	tests     string
	otherwise []string
}{
	"balance-by-bytes": {"replica-scheduling", []string{"replicas belong to a volume by its name in them, not by their own"}},
	"never-unload":     {"kmm", nil},
	"prefer-local":     {"replica-scheduling", nil},
}

// TestEdits: each edit applies to the shipped policy, its tests fail without it and pass
// with it, and what the policy decided before it still does.
func TestEdits(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/edits/*/edit.diff")
	if err != nil || len(files) != len(wishes) {
		t.Fatal(files, err)
	}
	for name, w := range wishes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := copied(t)
			folder := filepath.Join(root, "examples/edits", name)
			if len(failing(t, folder)) == 0 {
				t.Error("the tests pass without the edit")
			}
			cmd := exec.CommandContext(t.Context(), "git", "apply", filepath.Join(folder, "edit.diff"))
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("it does not apply: %v\n%s", err, out)
			}
			if list := failing(t, folder); len(list) > 0 {
				t.Errorf("these cases fail with the edit: %q", list)
			}
			if diff := cmp.Diff(w.otherwise, failing(t, filepath.Join(root, "policy-tests", w.tests))); diff != "" {
				t.Errorf("cases that decide otherwise (-want +got):\n%s", diff)
			}
		})
	}
}

// copied returns a folder with the policies and their tests.
func copied(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, from := range []string{"policies", "policy-tests", "test/crds", "examples"} {
		if err := os.CopyFS(filepath.Join(root, from), os.DirFS(filepath.Join("../..", from))); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// failing returns the cases that fail.
func failing(t *testing.T, path string) (names []string) {
	t.Helper()
	report, err := policytest.Run(t.Context(), []string{path}, policytest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Cases {
		if len(c.Failures) > 0 {
			t.Logf("%s: %s", c.Name, c.Failures)
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchemaFolders: schemas are beside the policies, at any depth, also by way of a
// symbolic link.
func TestSchemaFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, folder := range []string{"crds", "a/schemas/deep", "a/b", "schemas"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../crds", filepath.Join(root, "a/b/schemas")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a/b/p.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"":           {"schemas", "a/b/schemas", "a/schemas"},
		"a/b":        {"a/b/schemas"},
		"a/b/p.yaml": {"a/b/schemas"},
	} {
		for i := range want {
			want[i] = filepath.Join(root, want[i])
		}
		if diff := cmp.Diff(want, beside(filepath.Join(root, path))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
}

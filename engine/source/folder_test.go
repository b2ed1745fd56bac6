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

// TestFilesGivenTwice: a file that is given by itself and by its folder is read once;
// another file with the same policy is an error.
func TestFilesGivenTwice(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{log: {message: m}}]}]\n"
	for _, name := range []string{"a/p.yaml", "b/p.yaml"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(root, "a/p.yaml")
	for _, paths := range [][]string{{file, file}, {filepath.Join(root, "a"), file}, {file, root + "/a/../a"}} {
		if b, err := Load(paths, Options{}); err != nil || b.Err() != nil || len(b.Policies) != 1 || b.Files != 1 {
			t.Errorf("%v: %v, %+v", paths, err, b)
		}
	}
	if b, err := Load([]string{root}, Options{}); err != nil || b.Err() == nil {
		t.Errorf("two files with one policy: %v, %+v", err, b)
	}
}

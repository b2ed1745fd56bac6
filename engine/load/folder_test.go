package load

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes files in a new folder.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFilesOfAFolder(t *testing.T) {
	t.Parallel()
	root := tree(t, "b.yaml", "a.yml", "c.json", "d.txt", "e.rego", "z/a.yaml", "z/y/b.yaml",
		"schemas/crd.yaml", "z/schemas/crd.yaml", ".hidden/a.yaml", "README.md", "noextension")
	if err := os.Symlink(filepath.Join(root, "b.yaml"), filepath.Join(root, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		name, err := filepath.Rel(root, f.Path)
		if err != nil || string(f.Text) != name {
			t.Errorf("%s holds %q (%v)", name, f.Text, err)
		}
		got = append(got, name)
	}
	if diff := cmp.Diff([]string{"a.yml", "b.yaml", "c.json", "z/a.yaml", "z/y/b.yaml"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOneFile: a file that is named is read, whatever it is called.
func TestOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(tree(t, "policy.txt"), "policy.txt")
	files, err := Files(path)
	if err != nil || len(files) != 1 || files[0].Path != path {
		t.Errorf("got %v, %v", files, err)
	}
}

// TestFolderNamedSchemas is read when it is itself the path.
func TestFolderNamedSchemas(t *testing.T) {
	t.Parallel()
	files, err := Files(filepath.Join(tree(t, "schemas/a.yaml"), "schemas"))
	if err != nil || len(files) != 1 {
		t.Errorf("got %v, %v", files, err)
	}
}

func TestUnreadablePaths(t *testing.T) {
	t.Parallel()
	if _, err := Files(filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that does not exist: %v", err)
	}
	for name, root := range map[string]string{
		"an empty folder": t.TempDir(), "a folder without YAML": tree(t, "a.txt"), "a folder with schemas only": tree(t, "schemas/a.yaml"),
	} {
		_, err := Files(root)
		want := "read " + root + ": no .yaml, .yml or .json file in this folder"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	root := tree(t, "a.yaml")
	if err := os.Mkdir(filepath.Join(root, "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if files, err := Files(root); err != nil || len(files) != 1 {
		t.Errorf("a folder named like a file: %v, %v", files, err)
	}
}

// TestLinkedFolder: a folder may be named by a link.
func TestLinkedFolder(t *testing.T) {
	t.Parallel()
	root := tree(t, "b.yaml", "z/a.yaml")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	files, err := Files(link)
	if err != nil || len(files) != 2 || files[0].Path != filepath.Join(link, "b.yaml") || files[1].Path != filepath.Join(link, "z", "a.yaml") {
		t.Errorf("%v, %v", files, err)
	}
}

// TestMountedConfigMap: the files of a volume are links into a folder that is a link. What
// only looks like it, and leads out of the folder, is passed over.
func TestMountedConfigMap(t *testing.T) {
	t.Parallel()
	outside := tree(t, "secret.yaml", "folder/secret.yaml")
	for name, tc := range map[string]struct {
		data string // where ..data leads
		want int
	}{
		"a volume":   {"..2026_11_26", 1},
		"a way out":  {outside, 0},
		"a way back": {filepath.Join("..2026_11_26", "..", "..", filepath.Base(outside)), 0},
	} {
		root := tree(t, "..2026_11_26/policy.yaml", "..2026_11_26/folder.yaml/a.txt")
		for link, target := range map[string]string{
			"..data": tc.data, "policy.yaml": "..data/policy.yaml", "secret.yaml": "..data/secret.yaml", "folder.yaml": "..data/folder.yaml", "gone.yaml": "..data/gone.yaml",
		} {
			if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		files, err := Files(root)
		if len(files) != tc.want || (err == nil) != (tc.want > 0) {
			t.Errorf("%s: %v, %v", name, files, err)
		}
		if tc.want == 1 && files[0].Path != filepath.Join(root, "policy.yaml") {
			t.Errorf("%s: %s", name, files[0].Path)
		}
	}
}

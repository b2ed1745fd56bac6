// Package hack_test checks files of the repository that no program reads.
package hack_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = ".."

// files returns the paths of all files of a name or an extension, from the root of
// the repository.
func files(t *testing.T, match func(name string) bool) (out []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin"):
			return fs.SkipDir
		case !entry.IsDir() && match(entry.Name()):
			rel, err := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEveryModuleIsKnown: make verify tidies every Go module, and the
// configuration of dependabot raises it or says why not.
func TestEveryModuleIsKnown(t *testing.T) {
	t.Parallel()
	makefile, dependabot := read(t, "Makefile"), read(t, ".github/dependabot.yml")
	tidied := strings.Fields(regexp.MustCompile(`(?m)^MODULES *:=(.*)$`).FindStringSubmatch(makefile)[1])
	for _, file := range files(t, func(name string) bool { return name == "go.mod" }) {
		module := filepath.ToSlash(filepath.Dir(file))
		if !slices.Contains(tidied, module) {
			t.Errorf("MODULES in the Makefile does not name %s", module)
		}
		if module != "." && !strings.Contains(dependabot, module) {
			t.Errorf(".github/dependabot.yml does not name %s", module)
		}
	}
}

// TestKrew: the manifest for krew is of its type, and names the files that it installs.
func TestKrew(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "go", "run", ".", "edict.yaml")
	command.Dir = "krew"
	command.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version   string
			Platforms []struct {
				URI, Bin string
				Files    []struct{ From string }
			}
		}
	}
	if err := json.Unmarshal(out, &plugin); err != nil || plugin.Metadata.Name != "edict" || len(plugin.Spec.Platforms) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range plugin.Spec.Platforms {
		if !strings.Contains(p.URI, "/"+plugin.Spec.Version+"/") || len(p.Files) == 0 || p.Files[0].From != p.Bin {
			t.Errorf("%+v", p)
		}
	}
}

package fault

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheNamedTestsExist: every test that docs/reliability.md names is there.
func TestTheNamedTestsExist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(?:\\w+\\.)?((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(text), -1)
	if len(names) < 50 {
		t.Fatalf("only %d tests are named", len(names))
	}
	for _, m := range names {
		if !there[m[1]] {
			t.Errorf("there is no test %s", m[1])
		}
	}
}

package engine_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// filePattern matches a file in the documentation, and the functions of it
	// that are named.
	filePattern = regexp.MustCompile(`(engine/[a-z0-9/]+\.go)(?: \(([A-Za-z0-9, ]+)\))?`)
	// packagePattern matches a package or the path of a file in it.
	packagePattern = regexp.MustCompile(`engine/[a-z0-9/]+[a-z0-9]`)
)

// documentation returns the text of engine/doc.go on one line.
func documentation(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(file.Doc.Text()), " ")
}

// TestDocumentationNamesWhatExists: every file in the documentation exists, and
// has the functions that are named after it.
func TestDocumentationNamesWhatExists(t *testing.T) {
	t.Parallel()
	found := filePattern.FindAllStringSubmatch(documentation(t), -1)
	if len(found) < 50 {
		t.Fatalf("found %d files in the documentation: the pattern no longer matches", len(found))
	}
	for _, match := range found {
		text, err := os.ReadFile(filepath.Join("..", match[1]))
		if err != nil {
			t.Errorf("doc.go names %s: %v", match[1], err)
			continue
		}
		for name := range strings.SplitSeq(match[2], ", ") {
			if name != "" && !declares(string(text), name) {
				t.Errorf("doc.go names the function %s of %s, which has no such function", name, match[1])
			}
		}
	}
}

// declares reports whether a Go file declares a function or a method.
func declares(text, name string) bool {
	return regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + name + `\(`).MatchString(text)
}

// TestDocumentationNamesEveryPackage: a reader finds every package of the engine,
// and no package that does not exist.
func TestDocumentationNamesEveryPackage(t *testing.T) {
	t.Parallel()
	text, named := documentation(t), map[string]bool{}
	for _, name := range packagePattern.FindAllString(filePattern.ReplaceAllStringFunc(text, filepath.Dir), -1) {
		if _, err := os.Stat(filepath.Join("..", name)); err != nil {
			t.Errorf("doc.go names %s: %v", name, err)
		}
		named[name] = true
	}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !isSource(entry) || filepath.Dir(file) == "." {
			return err
		}
		if name := "engine/" + filepath.ToSlash(filepath.Dir(file)); !named[name] {
			t.Errorf("doc.go does not name %s", name)
			named[name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExtendingNamesWhatExists: every file that docs/extending.md names exists,
// but for those that its examples make.
func TestExtendingNamesWhatExists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(engine|builtins|cmd|test)/[a-z0-9/_]+\.go`).FindAllString(string(text), -1)
	if len(found) < 20 {
		t.Fatalf("found %d files in docs/extending.md: the pattern no longer matches", len(found))
	}
	made := regexp.MustCompile(`/dns/|/owner(_test)?\.go$`)
	for _, name := range found {
		if _, err := os.Stat(filepath.Join("..", name)); err != nil && !made.MatchString(name) {
			t.Errorf("docs/extending.md names %s: %v", name, err)
		}
	}
}

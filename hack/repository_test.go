// Package hack_test checks files of the repository that no program reads.
package hack_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
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

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// TestLinks: every link of a Markdown page to a file, a folder or a heading of the
// repository leads somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := files(t, func(name string) bool { return strings.HasSuffix(name, ".md") })
	if len(pages) < 20 {
		t.Fatalf("only %d pages were found", len(pages))
	}
	for _, page := range pages {
		text := code.ReplaceAllString(fence.ReplaceAllString(read(t, page), ""), "")
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if problem := broken(t, page, match[1]); problem != "" {
				t.Errorf("%s: the link %s: %s", page, match[1], problem)
			}
		}
	}
}

// broken returns why a link of a page leads nowhere; "" for a good one.
func broken(t *testing.T, page, target string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		return err.Error()
	}
	if u.IsAbs() {
		return ""
	}
	file := page
	if u.Path != "" {
		file = filepath.Join(filepath.Dir(page), u.Path)
	}
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		return "there is no such file"
	}
	if u.Fragment != "" && !anchors(read(t, file))[u.Fragment] {
		return "there is no such heading"
	}
	return ""
}

// anchors returns the names of the headings of a page, as they are linked to.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		out[anchor(match[1])] = true
	}
	return out
}

func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		default:
			return -1
		}
	}, link.ReplaceAllString(title, "]"))
}

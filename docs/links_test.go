// Package docs_test checks the documentation: that its links lead somewhere.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// pages returns the text of every Markdown page without its code blocks, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "bin" || name == ".git" || name == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".md") {
			return nil
		}
		text, err := os.ReadFile(file)
		out[file] = fence.ReplaceAllString(string(text), "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// anchors returns the anchors of a page, as GitHub makes them of headings.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(dropped.ReplaceAllString(strings.TrimSpace(m[1]), ""))
		out[strings.ReplaceAll(name, " ", "-")] = true
	}
	return out
}

// TestLinks: every link inside the repository leads to a file that exists, and to
// a heading of it.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := pages(t)
	if len(all) < 20 {
		t.Fatalf("%d pages", len(all))
	}
	count := 0
	for file, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			count++
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link %s leads to no file", file, m[1])
				continue
			}
			if page, ok := all[path]; ok && anchor != "" && !anchors(page)[anchor] {
				t.Errorf("%s: the link %s leads to no heading", file, m[1])
			}
		}
	}
	if count < 50 {
		t.Errorf("%d links", count)
	}
}

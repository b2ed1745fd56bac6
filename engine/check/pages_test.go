package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// pages are the pages of the codes.
const pages = "../../docs/checks"

// TestEachCodeHasAPage, and each page a code.
func TestEachCodeHasAPage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(pages, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for code, severity := range document.Severities {
		if !slices.Contains(files, filepath.Join(pages, string(code)+".md")) {
			t.Errorf("%s has no page", code)
		}
		if !strings.Contains(string(index), "| ["+string(code)+"]("+string(code)+".md) | "+string(severity)+" |") {
			t.Errorf("README.md does not list %s as %s", code, severity)
		}
	}
	for line := range strings.Lines(string(index)) {
		if strings.HasPrefix(line, "| [") && strings.Count(line, "`")%2 != 0 {
			t.Errorf("README.md ends a finding in the middle: %s", line)
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if _, known := document.Severities[document.Code(name)]; !known && name != "README" {
			t.Errorf("there is no code %s", name)
		}
	}
}

// TestPagesSayWhatIsSo: the example of a page has the finding and no other, and what
// is said to be right has none.
func TestPagesSayWhatIsSo(t *testing.T) {
	t.Parallel()
	for code, severity := range document.Severities {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(pages, string(code)+".md"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "\nSeverity: "+string(severity)+".\n") {
				t.Errorf("the page names another severity than %s", severity)
			}
			if got := codesIn(t, section(t, string(text), "## Example\n")); !slices.Equal(got, []string{string(code)}) {
				t.Errorf("the example has the findings %v", got)
			}
			if got := codesIn(t, section(t, string(text), "## Fixed\n")); len(got) > 0 {
				t.Errorf("what is fixed has the findings %v", got)
			}
		})
	}
}

// codesIn returns the different codes of the findings in a text.
func codesIn(t *testing.T, text string) (out []string) {
	t.Helper()
	for _, f := range found(t, text) {
		_, code, _ := strings.Cut(f, " ")
		if !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	return out
}

// section returns the first block after a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, heading)
	_, rest, begins := strings.Cut(rest, "```yaml\n")
	block, _, ends := strings.Cut(rest, "```\n")
	if !found || !begins || !ends {
		t.Fatalf("no block after %q", heading)
	}
	return block
}

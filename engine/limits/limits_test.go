package limits

import (
	"os"
	"strings"
	"testing"
)

// TestThePageShowsThem: the table of the language's page is this one.
func TestThePageShowsThem(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Limits\n")
	section, _, _ = strings.Cut(section, "\n## ")
	want := []string{"| What | At most | Why |", "|---|---|---|"}
	for _, l := range All() {
		want = append(want, l.Markdown())
	}
	var got []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "|") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if shown, wanted := strings.Join(got, "\n"), strings.Join(want, "\n"); shown != wanted {
		t.Errorf("docs/language.md shows\n%s\n\nthe limits are\n%s", shown, wanted)
	}
}

// TestEachIsGiven: each limit says what it is, and why.
func TestEachIsGiven(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range All() {
		if l.What == "" || l.Why == "" || l.Value <= 0 || seen[l.What] {
			t.Errorf("%+v", l)
		}
		seen[l.What] = true
	}
}

package document_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
)

// TestInside: each word of a text that is a value of another file is found in that
// file, however it is written there.
func TestInside(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"block":        "data:\n  a: |\n    one two:\n      three\n\n      - fünf: six\n    last",
		"strip, extra": "data:\n  a: |2-\n       one\n     two:  three\n   \n    four",
		"quotes":       `data: {a: "one two:\n  three\n\n  - \"fünf\": six\r\nlast"}`,
		"single":       "data:\n  a: 'one ''two'' three\n\n    four'",
		"plain":        "data:\n  a: one two\n",
		"folded":       "data:\n  a: >\n    one\n    two\n\n    three\n      four\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var problems document.Problems
			nodes := document.Parse("host.yaml", []byte(text), &problems)
			if len(nodes) != 1 || problems.HasErrors() {
				t.Fatal(problems.List())
			}
			n := nodes[0].Get("data").Get("a")
			host, words := strings.Split(text, "\n"), 0
			for i, line := range strings.FieldsFunc(strings.ReplaceAll(n.Text, "\n", "\n\x00"), func(r rune) bool { return r == '\n' || r == '\r' }) {
				line = strings.TrimPrefix(line, "\x00")
				for _, word := range []string{"one", "two", "three", "four", "fünf", "six", "last"} {
					at := strings.Index(line, word)
					if at < 0 {
						continue
					}
					words++
					p := n.Inside(document.Position{File: "inner", Line: i + 1, Column: len([]rune(line[:at])) + 1})
					if got := []rune(host[p.Line-1])[p.Column-1:]; p.File != "host.yaml" || !strings.HasPrefix(string(got), word) {
						t.Errorf("%q at %d:%d is at %s: %q", word, i+1, at+1, p, string(got))
					}
				}
			}
			if words < 2 {
				t.Errorf("%d words in %q", words, n.Text)
			}
			if diff := cmp.Diff(n.Pos, n.Inside(document.Position{File: "inner"})); diff != "" {
				t.Error(diff)
			}
			if end := n.Inside(document.Position{Line: 99, Column: 99}); end.Line > len(host) {
				t.Errorf("beyond the text is %s", end)
			}
		})
	}
}

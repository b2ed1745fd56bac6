package format_test

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/format"
)

// TestWhatCannotBeFormatted: the error has the place of the text that would change.
func TestWhatCannotBeFormatted(t *testing.T) {
	t.Parallel()
	const begin = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: t}\nspec:\n    for: {apiVersion: v1, kind: Node}\n    rules:\n        - name: a\n"
	for text, want := range map[string]string{
		"          when: 'a\n\n\n   b'\n":                            "f.yaml:8:17: cannot be formatted",
		"          stop: true\n          when: >+\n           a\n\n": "f.yaml:9:17: cannot be formatted",
	} {
		if _, err := format.Text("f.yaml", []byte(begin+text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

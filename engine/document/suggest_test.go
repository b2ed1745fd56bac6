package document

import (
	"strings"
	"testing"
)

// TestDidYouMean: only what is near is suggested; the shorter a word, the fewer changes
// make another one of it.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ word, known, want string }{
		// Typing mistakes.
		{"nodName", "nodeName nodeNames", "nodeName"},
		{"NODENAME", "nodeName", "nodeName"},
		{"nodeNames", "nodeName nodeNames", "nodeNames"},
		{"repicas", "replicas", "replicas"},
		{"sepc", "spec", "spec"},
		{"kidn", "kind", "kind"},
		{"fr", "for", "for"},
		{"ofr", "for", "for"},
		{"nod", "node", "node"},
		{"label", "labels", "labels"},
		{"rulez", "rules", "rules"},
		{"Deploymnet", "Deployment", "Deployment"},
		{"startWith", "startsWith", "startsWith"},
		{"matchs", "matches", "matches"},
		{"X", "x", "x"},
		// Parts of a name.
		{"min", "minimum", "minimum"},
		{"img", "image", "image"},
		{"version", "apiVersion", "apiVersion"},
		{"percentage", "percent", "percent"},
		{"serviceName", "service serviceAccountName", "service"},
		{"format", "for", ""},
		// Other words, however short.
		{"z", "a", ""},
		{"a", "as", ""},
		{"", "x", ""},
		{"is", "as", ""},
		{"set", "get", ""},
		{"max", "map", ""},
		{"set", "select", ""},
		{"bind", "find", ""},
		{"wait", "fail", ""},
		{"calls", "cases", ""},
		{"node", "now", ""},
		{"keep", "key", ""},
		{"unlike", "replicas", ""},
		{"status", "spec", ""},
		// Of two that are equally near, always the same.
		{"caat", "cat caut", "cat"},
		{"caat", "caut cat", "cat"},
		{"a", "", ""},
	} {
		hint := ""
		if tc.want != "" {
			hint = `did you mean "` + tc.want + `"?`
		}
		if got := DidYouMean(tc.word, strings.Fields(tc.known)); got != hint {
			t.Errorf("%q of %s: %q, want %q", tc.word, tc.known, got, hint)
		}
	}
}

// TestEdits: two neighbours that are swapped are one mistake.
func TestEdits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		if got := edits(tc.a, tc.b); got != tc.want {
			t.Errorf("%q, %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

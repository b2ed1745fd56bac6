package identity

import (
	"strings"
	"testing"
)

// TestPolicyID: what was written is read as it was.
func TestPolicyID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{"s/p": {"s", "p"}, "p": {"", "p"}, "p-s": {"", "p-s"}, "": {}} {
		set, policy := ParsePolicyID(id)
		if got := [2]string{set, policy}; got != want || PolicyID(set, policy) != id {
			t.Errorf("%q is %q, written %q", id, got, PolicyID(set, policy))
		}
	}
}

// TestMarkKey: another process, and another release, must find the marks. The digits were computed
// with sha256sum.
func TestMarkKey(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ id, rule, want string }{
		{"p", "", "148de9c5a7a44d19e56c"},
		{"s/p", "", "7743178ca9a603a5fadd"},
		{"s/p", "a rule", "fe1de4668faba597b316"},
		{"s/p/a rule", "", "fe1de4668faba597b316"}, // no policy has such a name
	} {
		got := MarkKey("held.edict.dev/", tc.id, tc.rule)
		if got != "held.edict.dev/"+tc.want {
			t.Errorf("%s, %q: %s, want %s", tc.id, tc.rule, got, tc.want)
		}
		if _, name, _ := strings.Cut(got, "/"); len(name) > 63 {
			t.Errorf("%s is no key", got)
		}
	}
}

package policies

import (
	"strings"
	"testing"
)

// TestTakeBackToTheRevisionBefore: the revision that runs again is the one that was in
// force before, whatever is in the history besides.
func TestTakeBackToTheRevisionBefore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ edits, want string }{
		"two revisions":                {"old new", "old"},
		"three revisions":              {"old new newer", "new"},
		"it was in force before":       {"old new newer new", "newer"},
		"it was the first one":         {"old new old", "new"},
		"the two in turn":              {"old new old new", "old"},
		"a refused one in between":     {"old new BROKEN newer", "new"},
		"it was refused in between":    {"old new BROKEN new", "old"},
		"there is none before":         {"old", ""},
		"none but those refused first": {"BROKEN old", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRolled(t)
			r.keeps = true
			last := ""
			for edit := range strings.FieldsSeq(tc.edits) {
				last = strings.Replace(edit, "BROKEN", brokenText, 1)
				r.look(last, "")
			}
			if r.takeBack(49) {
				t.Error("too few fail, and it is taken back")
			}
			if got := r.takeBack(50); got != (tc.want != "") {
				t.Errorf("it is taken back: %t", got)
			}
			if tc.want == "" {
				tc.want = last
			}
			r.want("it runs", r.look(last, ""), tc.want)
		})
	}
}

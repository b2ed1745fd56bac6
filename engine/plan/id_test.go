package plan

import "testing"

// TestParseID: an ID that was written is read as it was.
func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ID{
		"p": {Name: "p"}, "p@shadow": {Name: "p", Shadow: true}, "shadow": {Name: "shadow"}, "p-shadow": {Name: "p-shadow"},
	} {
		if got := ParseID(text); got != want || got.String() != text {
			t.Errorf("%s is %+v, written %s; want %+v", text, got, got, want)
		}
	}
}

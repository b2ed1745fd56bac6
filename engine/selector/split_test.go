package selector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
)

// TestSplit: the two parts match together what the whole matches.
func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"":                  {"", ""},
		"x=1":               {"x=1", ""},
		"y=1":               {"", "y=1"},
		"x!=1,x,y in (1,2)": {"x!=1,x", "y in (1,2)"},
	} {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		about, others := newSelector(s).Split("x")
		if diff := cmp.Diff(want, [2]string{about.String(), others.String()}); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	about, others := newSelector(labels.Nothing()).Split("x")
	if about.Matches(nil) && others.Matches(nil) {
		t.Error("what matches nothing matches something in two parts")
	}
}

package expr

import (
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

// TestCandidates: candidates are those at some places of a list, and the same as others
// that say the same, however they are kept.
func TestCandidates(t *testing.T) {
	t.Parallel()
	named := func(names ...string) (out []*value.Map) {
		for _, name := range names {
			out = append(out, value.FromMap(map[string]value.Value{"name": value.OfString(name)}))
		}
		return out
	}
	column := []value.Value{value.OfString("a"), value.OfString("b"), value.OfString("c")}
	all := Candidates{Of: value.NewRows([]string{"name"}, [][]value.Value{column})}
	some := Candidates{Of: all.Of, Some: []int32{0, 2}}
	none := Candidates{Of: all.Of, Some: []int32{}}
	for name, tc := range map[string]struct {
		candidates Candidates
		want       []*value.Map
	}{
		"all":                {all, named("a", "b", "c")},
		"some":               {some, named("a", "c")},
		"maps":               {CandidatesOf(named("a", "c")...), named("a", "c")},
		"none":               {none, nil},
		"of nothing":         {Candidates{}, nil},
		"no maps":            {CandidatesOf(), nil},
		"some in two places": {Candidates{Of: CandidatesOf(named("x", "a", "c")...).Of, Some: []int32{1, 2}}, named("a", "c")},
	} {
		if n := tc.candidates.Len(); n != len(tc.want) || (tc.candidates.Bytes() > 0) != (n > 0) {
			t.Errorf("%s: %d candidates of %d bytes", name, n, tc.candidates.Bytes())
		}
		for i, m := range tc.candidates.All() {
			if !value.Alike(m, tc.want[i]) {
				t.Errorf("%s: candidate %d is %v", name, i, value.Plain(m))
			}
		}
		for _, others := range []Candidates{all, some, none} {
			want := len(tc.want) == others.Len() && (others.Len() != 2 || value.Alike(tc.want[0], named("a")[0]))
			if tc.candidates.Same(others) != want || others.Same(tc.candidates) != want {
				t.Errorf("%s: that they are the same as others, %d, is not %v", name, others.Len(), want)
			}
		}
	}
	if one, other := CandidatesOf(named("a")...), CandidatesOf(named("b")...); one.Same(other) {
		t.Error("other candidates are the same")
	}
}

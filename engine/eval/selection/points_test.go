package selection

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPoints: the points of groups are those of their numbers, whether these are one or
// several; each kind of group is computed once, while there are few.
func TestPoints(t *testing.T) {
	t.Parallel()
	compute := func(f facts) (int64, error) {
		if f[1] == 13 {
			return 0, errors.New("unlucky")
		}
		return 100*f[0] + 10*f[1] + f[2], nil
	}
	many := make([]int32, 2*maxKinds)
	for i := range many {
		many[i] = int32(i)
	}
	for name, tc := range map[string]struct {
		counts   counts
		order    []int32
		want     []int64
		computed int
		fails    bool
	}{
		"one number":             {counts{1: {2, 1, 2, 2}}, []int32{0, 1, 2}, []int64{20, 10, 20, 0}, 2, false},
		"several":                {counts{{1, 1, 1, 1}, {2, 1, 2, 2}, {0, 0, 0, 5}}, []int32{3, 2, 0}, []int64{120, 0, 120, 125}, 2, false},
		"none":                   {counts{}, []int32{1, 0}, []int64{0, 0}, 1, false},
		"large, again and again": {counts{2: {maxKinds, maxKinds, maxKinds - 1, maxKinds - 1}}, []int32{0, 1, 2, 3}, []int64{maxKinds, maxKinds, maxKinds - 1, maxKinds - 1}, 3, false},
		"one that fails":         {counts: counts{1: {1, 13, 2}}, order: []int32{0, 1, 2}, want: []int64{10, 0, 0}, computed: 2, fails: true},
		"no groups":              {counts{0: {1}}, nil, []int64{0}, 0, false},
	} {
		computed, got := 0, make([]int64, len(tc.want))
		err := tc.counts.points(tc.order, func(f facts) (int64, error) { computed++; return compute(f) }, got)
		if diff := cmp.Diff(tc.want, got); diff != "" || computed != tc.computed || (err != nil) != tc.fails {
			t.Errorf("%s: computed %d times (%v), -want +got:\n%s", name, computed, err, diff)
		}
	}
	got := make([]int64, len(many))
	if err := (&counts{2: many}).points(many, compute, got); err != nil || got[len(got)-1] != int64(len(got)-1) {
		t.Errorf("%v, %v", got, err)
	}
}

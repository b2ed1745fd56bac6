package eval

import (
	"fmt"
	"testing"

	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// TestStates: objects are found alike, whether there are few or many, and one that was
// taken back is as if it had never been there.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, fewStates, fewStates + 1, 5 * fewStates} {
		s, want := states{}, map[world.ID]*value.Map{}
		id := func(i int) world.ID { return world.ID{Namespace: "ns", Name: fmt.Sprint(i % n)} }
		for i := range 3 * n {
			var v *value.Map
			if i%5 > 0 {
				v = value.Field("n", value.OfInt(int64(i)))
			}
			if was := s.set(id(i), v); was != want[id(i)] {
				t.Fatalf("%d objects: the %dth was %v, want %v", n, i, was, want[id(i)])
			}
			want[id(i)] = v
		}
		for i := range n {
			if got := s.of(id(i)); got != want[id(i)] {
				t.Errorf("%d objects: the %dth is %v, want %v", n, i, got, want[id(i)])
			}
		}
		if v := s.of(world.ID{Name: "0"}); v != nil || len(s.list) != n {
			t.Errorf("%d objects: another one is %v, the list has %d", n, v, len(s.list))
		}
	}
}

package reconcile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// TestPendingWrites: of the keys that wait, those are told that others have overtaken or
// whose object is not in a newer table; and what one revision waits for, another can.
func TestPendingWrites(t *testing.T) {
	t.Parallel()
	nodes := world.Source{GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}}
	one, two, three := eval.Key{Name: "one"}, eval.Key{Name: "two"}, eval.Key{Name: "three"}
	node := func(name string) world.ID { return world.MustIdentify(nodes.GVK, "", name) }
	w, other := newPendingWrites(), newPendingWrites()
	w.set(two, pending{versions: []written{{id: node("a"), version: "7"}, {id: node("made"), version: "9", created: true}}})
	w.set(one, pending{versions: []written{{id: node("a"), version: "5"}, {id: node("a"), version: "8"}}})
	w.set(three, pending{}) // it waits for nothing
	before := func(version string) []eval.Key {
		return w.before(node("a"), world.Version{ResourceVersion: version})
	}
	var empty *world.Table
	for _, step := range []struct {
		name      string
		got, want []eval.Key
	}{
		{"the version that one has written last", before("8"), []eval.Key{two}},
		{"a later version", before("9"), []eval.Key{one, two}},
		{"a version that cannot be compared", before("x"), nil},
		{"a table that does not come so far", w.miss(nodes, empty, "8"), nil},
		{"a table without what was made", w.miss(nodes, empty, "9"), []eval.Key{two}},
		{"the same again", w.miss(nodes, empty, "10"), nil},
	} {
		if d := cmp.Diff(step.want, step.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, d)
		}
	}
	other.move(w, two)
	other.copy(w)
	w.drop(func(eval.Key) bool { return true })
	for key, want := range map[eval.Key]bool{one: true, two: true, three: false} {
		_, here := w.get(key)
		if _, there := other.get(key); here || there != want {
			t.Errorf("%v waits here: %v, there: %v", key, here, there)
		}
	}
	if p, _ := other.get(two); !p.versions[1].missed {
		t.Error("that an object was missed is forgotten")
	}
}

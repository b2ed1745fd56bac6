package properties

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/fixture"
)

// ordered is a policy whose children come after each other.
type ordered struct {
	// after are the children that each one comes after, orphans those that stay.
	after   [][]int
	orphans []bool
	held    bool
}

// randomOrder returns some children, of which at least one is deleted.
func randomOrder(r *rand.Rand) ordered {
	n := 2 + r.IntN(4)
	o := ordered{after: make([][]int, n), orphans: make([]bool, n), held: r.IntN(2) == 0}
	for i := range n {
		o.orphans[i] = r.IntN(3) == 0
		for before := range i {
			if r.IntN(2) == 0 {
				o.after[i] = append(o.after[i], before)
			}
		}
	}
	o.orphans[r.IntN(n)] = false
	return o
}

func (o *ordered) policy() string {
	var b strings.Builder
	b.WriteString("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: copies}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap, selector: copy=yes}\n")
	if o.held {
		b.WriteString("  finalizer: " + finalizer + "\n")
	}
	b.WriteString("  children:\n")
	for i, after := range o.after {
		fmt.Fprintf(&b, "    - {name: c%d, whenDeleted: %s, after: [", i, map[bool]string{true: "Orphan", false: "Delete"}[o.orphans[i]])
		for _, before := range after {
			fmt.Fprintf(&b, "c%d,", before)
		}
		fmt.Fprintf(&b, "], apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}}}\n", i)
	}
	return b.String()
}

// precedes reports whether a child comes before another, also by way of others.
func (o *ordered) precedes(first, second int) bool {
	return slices.ContainsFunc(o.after[second], func(i int) bool { return i == first || o.precedes(first, i) })
}

// TestChildrenInOrder: when the primary object is deleted or leaves the selector, its
// children go in the opposite order, each when the one before is gone, but for those that
// stay, which hold up nothing.
func TestChildrenInOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(budget.Of(30, 150)) {
		r := rand.New(rand.NewPCG(seed, 11))
		o := randomOrder(r)
		if d := cmp.Diff(o.left(), o.run(t, r.IntN(2) == 0)); d != "" {
			t.Fatalf("seed %d (-want +got):\n%s\n%s", seed, d, o.policy())
		}
	}
}

// left are the children that stay.
func (o *ordered) left() (out []string) {
	for i, stays := range o.orphans {
		if stays {
			out = append(out, fmt.Sprintf("c%d", i))
		}
	}
	return out
}

// run makes the children, ends their primary object, and returns what is left.
func (o *ordered) run(t *testing.T, leave bool) (left []string) {
	t.Helper()
	primary := fixture.Object("v1", "ConfigMap", "ns", "p")
	labels := map[string]any{"copy": "yes"}
	primary["metadata"].(map[string]any)["labels"] = labels
	sim := fixture.Simulation(t, childrenPolicy(t, o.policy()), []simulate.Object{primary}, nil)
	sim.Settle(t.Context())
	if made := len(sim.Objects()) - 1; made != len(o.after) {
		t.Fatalf("%d children, want %d", made, len(o.after))
	}
	if labels["copy"] = "no"; leave {
		sim.Merge(primary)
	} else {
		sim.Delete(simulate.ID(primary))
	}
	sim.Settle(t.Context())
	o.checkOrder(t, sim.Result())
	for _, object := range sim.Objects() {
		metadata := object["metadata"].(map[string]any)
		switch name := metadata["name"].(string); {
		case name != "p":
			left = append(left, name)
		case !leave || metadata["finalizers"] != nil:
			t.Errorf("the primary object is held: %v", metadata)
		}
	}
	return left
}

// checkOrder reports children that were deleted before what comes after them.
func (o *ordered) checkOrder(t *testing.T, result simulate.Result) {
	t.Helper()
	var gone []int
	for _, e := range result.Effects {
		if e.Verb != "delete" {
			continue
		}
		var i int
		if _, err := fmt.Sscanf(e.Target.Name, "c%d", &i); err != nil {
			t.Fatal(err)
		}
		for _, before := range gone {
			if o.precedes(before, i) {
				t.Errorf("c%d was deleted before c%d, which comes after it", before, i)
			}
		}
		gone = append(gone, i)
	}
}

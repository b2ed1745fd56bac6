package policytest

import (
	"testing"

	"github.com/edict-dev/edict/engine/simulate"
)

// TestMissing: a name that a policy computes is rarely guessed right at first.
func TestMissing(t *testing.T) {
	t.Parallel()
	object := func(kind, name string) simulate.Object {
		return simulate.Object{"apiVersion": "v1", "kind": kind, "metadata": simulate.Object{"namespace": "ns", "name": name}}
	}
	all := []simulate.Object{object("Secret", "z"), object("Pod", "a"), object("Pod", "b"), object("Pod", "c"), object("Pod", "d")}
	for n, want := range map[int]string{
		1: "Pod ns/x does not exist, nor any of its kind",
		2: "Pod ns/x does not exist; of its kind there is ns/a",
		5: "Pod ns/x does not exist; of its kind there are ns/a, ns/b, ns/c and 1 more",
	} {
		if got := missing(simulate.ID(object("Pod", "x")), all[:n]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

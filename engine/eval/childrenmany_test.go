package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/test/budget"
)

// manyChildren is a policy that keeps a Part for each name in a Widget, and another one
// when all of these are ready.
const manyChildren = `
  children:
    - name: parts
      forEach: object.spec.names
      as: name
      apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: "${name}"}}
      ifExists: take
    - name: last
      after: [parts]
      apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: last}}
`

// withChildren has a Widget that wants so many Parts, which are there, as many more that it
// does not want, and one that comes after them.
func withChildren(t *testing.T, n int) *bench {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("part-%05d", i)
	}
	b := newBench(t, manyChildren, "{kind: Widget, metadata: {namespace: ns, name: w}, spec: {names: ["+strings.Join(names, ", ")+"]}}")
	const child = "{kind: Part, metadata: {namespace: ns, name: %s, labels: {edict.dev/policy: p, edict.dev/child: parts}, annotations: {edict.dev/primary-namespace: ns, edict.dev/primary-name: w}}}"
	for _, name := range names {
		b.put(fmt.Sprintf(child, name))
		b.put(fmt.Sprintf(child, "un"+name))
	}
	return b
}

// TestManyChildren: what is no longer wanted is deleted, whatever the number of children,
// and the cost grows with that number.
func TestManyChildren(t *testing.T) {
	t.Parallel()
	cost := func(n int) uint64 {
		b := withChildren(t, n)
		d := eval.Evaluate(t.Context(), eval.Input{Policy: b.policy, Key: eval.Key{Namespace: "ns", Name: "w"}, World: b.store.Snapshot(), Now: now}, nil)
		verbs := map[string]int{}
		for _, e := range d.Effects {
			verbs[e.Verb]++
		}
		if len(d.Problems) > 0 || verbs[eval.VerbDelete] != n {
			t.Fatalf("%d children: %v, %d problems", n, verbs, len(d.Problems))
		}
		return d.Cost
	}
	small := budget.Of(40, 100)
	few, more := cost(small), cost(10*small)
	if 2*more > 21*few {
		t.Errorf("%d children cost %d, ten times as many %d", small, few, more)
	}
}

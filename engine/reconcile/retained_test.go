package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// texts are about half a megabyte for each object, and differ.
var texts = "  variables:\n    - {name: long, expression: \"lists.range(300).map(i, '" + strings.Repeat("x", 2000) + "').join(key.name) \"}\n"

// TestWhatIsKept: results are kept up to a limit, which is counted down when an
// object goes; beyond it nothing is kept, and the decisions are the same.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, texts+"  rules:\n    - name: r\n      when: size(variables.long) > 0\n      do: [{log: {message: \"${string(size(variables.long))}\"}}]\n")
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Add(p)
	const objects = 230
	for round := range 2 {
		for i := range objects {
			name := fmt.Sprintf("n%03d", i)
			put(t, g, name, "1", nil)
			r := c.Reconcile(t.Context(), eval.Key{Name: name}, noon)
			if len(r.Decision.Problems) > 0 || len(r.Decision.Log) != 1 {
				t.Fatalf("round %d, %s: %v", round, name, r.Decision.Problems)
			}
		}
	}
	if c.known.bytes.keeping > eval.MaxMemoAll || c.known.bytes.keeping < eval.MaxMemoAll/2 {
		t.Errorf("%d bytes are kept of %d", c.known.bytes.keeping, eval.MaxMemoAll)
	}
	sum := 0
	for _, k := range c.known.states {
		sum += k.memo.Kept()
	}
	if sum != c.known.bytes.keeping {
		t.Errorf("%d bytes are counted, %d are kept", c.known.bytes.keeping, sum)
	}
	for i := range objects {
		key := eval.Key{Name: fmt.Sprintf("n%03d", i)}
		c.forget(key, c.known.memo(key))
	}
	if c.known.bytes.keeping != 0 {
		t.Errorf("%d bytes are counted when all objects are gone", c.known.bytes.keeping)
	}
}

// TestWhatAllPoliciesKeep: the results of all policies have a limit together, and a
// policy that is removed gives its part back.
func TestWhatAllPoliciesKeep(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, texts+"  rules:\n    - name: r\n      when: size(variables.long) > 0\n      do: [{log: {message: \"${string(size(variables.long))}\"}}]\n")
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	first, second := g.Add(p), g.Add(p)
	for i := range 200 {
		name := fmt.Sprintf("n%03d", i)
		put(t, g, name, "1", nil)
		for _, c := range []*Controller{first, second} {
			c.Reconcile(t.Context(), eval.Key{Name: name}, noon)
		}
	}
	if all := int(g.keeping.Load()); all > eval.MaxMemoProcess || all < eval.MaxMemoProcess*3/4 || all != first.known.bytes.keeping+second.known.bytes.keeping {
		t.Errorf("%d bytes are kept of %d; the policies keep %d and %d", all, eval.MaxMemoProcess, first.known.bytes.keeping, second.known.bytes.keeping)
	}
	g.Remove(first)
	if all := int(g.keeping.Load()); all != second.known.bytes.keeping || second.known.bytes.keeping == 0 {
		t.Errorf("%d bytes are counted of %d", all, second.known.bytes.keeping)
	}
}

// TestWhatIsRemembered: remembering more than there is room for fails, for one
// object and for all together; replacing and forgetting make room.
func TestWhatIsRemembered(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, texts+`  rules:
    - name: r
      do: [{remember: {name: x, value: "${variables.long}"}}]
`)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Add(p)
	decide := func(name string) string {
		put(t, g, name, "1", nil)
		var out []string
		for _, p := range c.Reconcile(t.Context(), eval.Key{Name: name}, noon).Decision.Problems {
			out = append(out, p.Err.Error())
		}
		return strings.Join(out, "\n")
	}
	full := 0
	for ; full < 100; full++ {
		if wrong := decide(fmt.Sprintf("n%03d", full)); wrong != "" {
			if !strings.Contains(wrong, "the objects of the policy would remember more than 33554432 bytes together") {
				t.Fatal(wrong)
			}
			break
		}
	}
	if full < 20 || full > 60 || c.known.memories.total() > eval.MaxRememberedAll {
		t.Errorf("%d objects remember %d bytes", full, c.known.memories.total())
	}
	if wrong := decide("n000"); wrong != "" {
		t.Errorf("what is remembered in place of the same: %s", wrong)
	}
	c.known.remember(eval.Key{Name: "n000"}, map[string]value.Value{"x": nil})
	if wrong := decide(fmt.Sprintf("n%03d", full)); wrong != "" {
		t.Errorf("after something was forgotten: %s", wrong)
	}
}

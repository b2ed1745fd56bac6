package simulate

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// reaps deletes the parts of a Widget whose lease is over.
const reaps = `
  for: {apiVersion: example.com/v1, kind: Widget}
  inputs:
    - {name: parts, apiVersion: example.com/v1, kind: Part, where: item.spec.of == key.name}
  rules:
    - name: reap
      when: object.spec.over && size(inputs.parts) > 1
      forEach: inputs.parts
      as: part
      do: [{delete: {of: part}}]
`

func part(name string) Object {
	return Object{"apiVersion": "example.com/v1", "kind": "Part", "metadata": Object{"namespace": "ns", "name": name}, "spec": Object{"of": "a"}}
}

// TestAnOldViewDeletesNothing: while the watch of one kind is behind, that of
// another goes on, and a decision is made on an old state of the primary.
func TestAnOldViewDeletesNothing(t *testing.T) {
	t.Parallel()
	b := loaded(t, reaps)
	may := guard.Guard{Allowed: []guard.Allowance{{Policy: "p1", Group: "example.com", Kind: "Part", Field: guard.Deletion}}}
	s := New(t.Context(), Options{Guard: may, Policies: b.Policies, Schemas: b.Schemas, Start: start, Objects: []Object{
		manifest("a", Object{"spec": Object{"over": true}}), part("x"),
	}})
	s.Settle(t.Context())
	told := s.server.changed
	var late []func()
	s.server.changed = func(id world.ID, old, now Object) {
		if id.Kind() == "Widget" {
			late = append(late, func() { told(id, old, now) })
			return
		}
		told(id, old, now)
	}
	s.Apply(manifest("a", Object{"spec": Object{"over": false}}))
	s.Apply(part("y")) // wakes the Widget, as it was
	s.Settle(t.Context())
	if len(s.done.result.Effects) > 0 || len(s.agenda.retries.list) != 1 {
		t.Fatalf("on the old view: %d writes, %d keys to try again; want none, and one", len(s.done.result.Effects), len(s.agenda.retries.list))
	}
	for _, tell := range late {
		tell()
	}
	s.server.changed = told
	s.Advance(t.Context(), start.Add(time.Minute))
	for _, name := range []string{"x", "y"} {
		id := world.MustIdentify(schema.GVK{APIVersion: "example.com/v1", Kind: "Part"}, "ns", name)
		if s.Get(id) == nil {
			t.Errorf("%s was deleted", name)
		}
	}
	if len(s.done.result.Errors) > 0 {
		t.Errorf("an object that has moved on was reported: %v", s.done.result.Errors)
	}
	s.Apply(manifest("a", Object{"spec": Object{"over": true}}))
	s.Settle(t.Context())
	if len(s.done.result.Effects) != 2 {
		t.Errorf("%d writes on the new view, want 2", len(s.done.result.Effects))
	}
}

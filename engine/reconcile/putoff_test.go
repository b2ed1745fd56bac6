package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// TestWhatIsPutOff: a debounce key that differs at each change keeps every state of
// an object, up to a limit. Beyond it the object fails and is tried again; what waits
// is run, and makes room.
func TestWhatIsPutOff(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, `  rules:
    - name: mark
      debounce: {key: "${object.metadata.labels.state}", window: 1h, allowed: [{from: "13:00", to: "14:00"}]}
      do: [{labels: {set: {mark: "${object.metadata.labels.state}"}}}]
    - name: reads
      when: '"x" in object.metadata.labels && object.metadata.labels.x == ""'
      do: [{log: {message: x}}]
`)
	server := &late{}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	long := strings.Repeat("x", 1<<20)
	key, refused := eval.Key{Name: "n"}, 0
	const states = 100
	for i := range states {
		put(t, g, "n", fmt.Sprint(i+1), map[string]any{"state": fmt.Sprint(i), "x": long})
		r := c.Reconcile(t.Context(), key, noon)
		if r.Err != nil {
			if refused++; !strings.Contains(r.Err.Error(), `rule "mark": what is debounced would keep more than 64 MiB`) {
				t.Fatal(r.Err)
			}
		}
	}
	if n := c.Pending(); n+refused != states || n < 40 || n > 64 || c.known.intents.bytes > eval.MaxPutOff {
		t.Errorf("%d wait and %d are refused, with %d bytes", n, refused, c.known.intents.bytes)
	}
	sum := 0
	for _, i := range c.known.intents.byName {
		sum += i.weight
	}
	if sum != c.known.intents.bytes {
		t.Errorf("%d bytes are counted, there are %d", c.known.intents.bytes, sum)
	}
	at := noon.Add(90 * time.Minute)
	for range 2 * states {
		c.Reconcile(t.Context(), key, at)
		at = at.Add(2 * patience / states)
	}
	at = at.Add(2 * time.Hour)
	c.Reconcile(t.Context(), key, at)
	if n := c.Pending(); n > 1 || c.known.intents.bytes > 4<<20 {
		t.Errorf("later %d wait, with %d bytes", n, c.known.intents.bytes)
	}
}

// TestPutOffThatDoesNotWait: what was run keeps no object when there is no room for
// what waits.
func TestPutOffThatDoesNotWait(t *testing.T) {
	t.Parallel()
	q := newIntents()
	object := func() *world.Object {
		return readmodel.Object(world.Source{}, map[string]any{"metadata": map[string]any{"name": "n", "labels": map[string]any{"x": strings.Repeat("x", 30<<20)}}}, nil, value.KeepAll)
	}
	for i := range 3 {
		one := q.of(fmt.Sprint(i), eval.Key{Name: "n"})
		if !q.hold(fmt.Sprint(i), one, object(), noon) {
			t.Errorf("there is no room for %d", i)
		}
		one.pending = i > 0
	}
	if q.byName["0"].object != nil || q.byName["1"].object == nil {
		t.Error("what does not wait keeps its object")
	}
	last := q.of("3", eval.Key{Name: "n"})
	if q.hold("3", last, object(), noon.Add(time.Minute)) || last.object != nil {
		t.Error("there is room for what waits beyond the limit")
	}
	for name, i := range q.byName {
		q.drop(name, i)
	}
	if q.bytes != 0 || len(q.ofKey) != 0 {
		t.Errorf("%d bytes are left", q.bytes)
	}
}

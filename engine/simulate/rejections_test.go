package simulate

import (
	"net/http"
	"testing"
)

// TestRejectedInTurns: a child that is refused is left out once and tried again with
// back-off, also if it differs from one try to the next.
func TestRejectedInTurns(t *testing.T) {
	t.Parallel()
	const counting = "\n  for: {apiVersion: example.com/v1, kind: Widget}\n  children:\n    - {name: part, apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: part}, item: ITEM}}\n" +
		"  rules:\n    - {name: count, do: [{remember: {name: n, value: \"${memory.get('n').orValue(0) + 1}\"}}]}\n"
	for item, most := range map[string]int{"same": 6, `"${memory.get('n').orValue(0)}"`: 6} {
		t.Run(item, func(t *testing.T) {
			t.Parallel()
			s := collide(t, of(counting, item))
			s.Fail(Fault{Verb: "apply", Kind: "Part", Times: 1000, Code: http.StatusUnprocessableEntity})
			before := s.Evaluations()
			s.Apply(Object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": Object{"name": "a", "namespace": "ns"}})
			s.Settle(t.Context())
			if got := s.Evaluations() - before; got > most {
				t.Errorf("%d evaluations at one time", got)
			}
		})
	}
}

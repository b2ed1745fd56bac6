package simulate

import (
	"net/http"
	"strings"
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

// TestUntyped: a child that the API server cannot read by its schema is refused: its onError
// runs, and the other children are written.
func TestUntyped(t *testing.T) {
	t.Parallel()
	const spec = "\n  for: {apiVersion: v1, kind: ConfigMap, selector: a=b}\n  children:\n" +
		"    - {name: bad, apply: {apiVersion: v1, kind: Service, metadata: {name: bad, namespace: ns}, spec: {ports: \"${json.decode(object.data.ports)}\"}}}\n" +
		"    - {name: good, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: good, namespace: ns}, data: {v: \"1\"}}}\n"
	for name, ports := range map[string]string{
		"two entries of one key":  `[{"name":"a","port":80,"protocol":"TCP"},{"name":"b","port":80,"protocol":"TCP"}]`,
		"a value of another type": `[{"port":"x","protocol":"TCP"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := collide(t, of(spec, ""))
			s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b"}}, "data": Object{"ports": ports}})
			s.Settle(t.Context())
			r := s.Result()
			if len(r.Effects) != 1 || r.Effects[0].Target.Name != "good" || len(r.Errors) == 0 || !strings.Contains(r.Errors[0].Message, "failed to create typed patch object") {
				t.Errorf("effects %+v, errors %+v", r.Effects, r.Errors)
			}
		})
	}
}

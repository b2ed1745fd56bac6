package simulate

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	for name, tc := range map[string]struct{ ports, want string }{
		"two entries of one key":  {`[{"name":"a","port":80},{"name":"b","port":80,"protocol":"TCP"}]`, "has two entries with port: 80, protocol: TCP in spec.ports"},
		"a value of another type": {`[{"port":"x","protocol":"TCP"}]`, `has spec.ports[].port: "x", which must be a whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := collide(t, of(spec, ""))
			s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b"}}, "data": Object{"ports": tc.ports}})
			s.Settle(t.Context())
			r := s.Result()
			if len(r.Effects) != 1 || r.Effects[0].Target.Name != "good" || len(r.Errors) == 0 || !strings.Contains(r.Errors[0].Message, tc.want) {
				t.Errorf("effects %+v, errors %+v", r.Effects, r.Errors)
			}
		})
	}
}

// TestDividedWrite: of several items that write one object together, one whose label the API
// server refuses does not stop the others. It is not sent again before it changes.
func TestDividedWrite(t *testing.T) {
	t.Parallel()
	const spec = "\n  for: {apiVersion: v1, kind: ConfigMap, selector: a=b}\n" +
		"  rules:\n    - {name: label, forEach: \"object.data.map(k, k).sort()\", as: k, do: [{labels: {set: {\"${k}\": \"${object.data[k]}\"}}}], onError: [{event: {type: Warning, reason: Bad, message: \"${k}\"}}]}\n"
	s := collide(t, of(spec, ""))
	id := Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b"}}, "data": Object{"p": "1", "q": "not a label", "r": "2"}}
	s.Apply(id)
	s.Settle(t.Context())
	if got := metadata(s.Get(ID(id)))["labels"]; !cmp.Equal(got, any(Object{"a": "b", "p": "1", "r": "2"})) {
		t.Errorf("the labels are %v", got)
	}
	effects := len(s.Result().Effects)
	s.Advance(t.Context(), start.Add(time.Hour))
	s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b", "p": "1", "r": "2"}}, "data": Object{"p": "1", "q": "not a label", "r": "3"}})
	s.Settle(t.Context())
	r := s.Result()
	if got := metadata(s.Get(ID(id)))["labels"].(Object)["r"]; got != "3" {
		t.Errorf("r is %v", got)
	}
	if made := len(r.Effects) - effects; made != 1 {
		t.Errorf("%d effects after a change of another item: %+v", made, r.Effects[effects:])
	}
	s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b", "p": "1", "r": "3"}}, "data": Object{"p": "1", "q": "3", "r": "3"}})
	s.Settle(t.Context())
	if got := metadata(s.Get(ID(id)))["labels"].(Object)["q"]; got != "3" {
		t.Errorf("q is %v", got)
	}
}

// TestDroppedField: a field that the API server drops is sent once, and told once; it is sent
// again if the write changes.
func TestDroppedField(t *testing.T) {
	t.Parallel()
	const spec = "\n  for: {apiVersion: v1, kind: ConfigMap, selector: a=b}\n  inputs: [{name: d, apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespace: \"'ns'\"}]\n" +
		"  rules:\n    - {name: drop, forEach: inputs.d, as: d, do: [{patch: {of: d, value: {spec: \"${json.decode(object.data.spec)}\"}}}]}\n"
	s := collide(t, of(spec, ""))
	wake := func(spec string, n int) {
		s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b"}, "generateName": strings.Repeat("n", n)}, "data": Object{"spec": spec}})
		s.Settle(t.Context())
	}
	s.Apply(Object{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": Object{"name": "d", "namespace": "ns"}, "spec": Object{
		"maxReplicas": int64(3), "scaleTargetRef": Object{"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"},
	}})
	for i, want := range []int{1, 1, 2, 3} {
		wake([]string{`{"noSuchField": 1}`, `{"noSuchField": 1}`, `{"noSuchField": 2}`, `{"noSuchField": 2, "maxReplicas": 4}`}[i], i+1)
		r := s.Result()
		if len(r.Effects) != want || len(r.Errors) != min(want, 2) {
			t.Errorf("step %d: %d effects, errors %+v", i, len(r.Effects), r.Errors)
		}
	}
}

// TestOwnersElsewhere: a policy that makes its primary object the owner of an object in another
// namespace fails; such an object of somebody else is collected.
func TestOwnersElsewhere(t *testing.T) {
	t.Parallel()
	const owners = "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: \"${key.name}\", uid: \"${object.metadata.uid}\"}]"
	const spec = "\n  for: {apiVersion: v1, kind: ConfigMap, selector: a=b}\n  rules: [{name: own, do: [{apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: part, namespace: ITEM, " + owners + "}}}]}]\n"
	for namespace, want := range map[string]int{"ns": 1, "other": 0} {
		s := collide(t, of(spec, namespace))
		s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "uid": "u", "labels": Object{"a": "b"}}})
		s.Settle(t.Context())
		if r := s.Result(); len(r.Effects) != want || len(r.Errors) != 1-want {
			t.Errorf("in %s: %+v", namespace, r)
		}
		theirs := Object{"apiVersion": "example.com/v1", "kind": "Part", "metadata": Object{"name": "theirs", "namespace": namespace, "ownerReferences": []any{Object{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}}}}
		s.Apply(theirs)
		if there := s.Get(ID(theirs)) != nil; there != (want == 1) {
			t.Errorf("in %s: an object of somebody else is there: %v", namespace, there)
		}
	}
}

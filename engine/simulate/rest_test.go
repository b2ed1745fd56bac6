package simulate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/source"
)

// databases is a CRD with what an API server stores in a form of its own.
const databases = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.acme.io}
spec:
  group: acme.io
  scope: Cluster
  names: {kind: Database, plural: databases}
  versions:
    - name: v1
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                ports: {type: array, items: &port {type: object, properties: {port: {type: integer}, protocol: {type: string, default: TCP}, probe: {type: object, default: {}, properties: {seconds: {type: integer, default: 5}}}}}}
                mode: {type: string, default: plain}
            status:
              type: object
              properties:
                since: {type: string, format: date-time}
                times: {type: array, items: {type: object, properties: {name: {type: string}, at: {type: string, format: date-time}}}}
                members: {type: array, items: {type: object, properties: {name: {type: string}, role: {type: string}}}}
                ports: {type: array, items: *port}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// resting sets a world up with the CRD.
func resting(t *testing.T, spec string, o Object) *Simulation {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "schemas"), 0o700); err != nil {
		t.Fatal(err)
	}
	policy := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n" + spec
	for name, text := range map[string]string{"policy.yaml": policy, "schemas/crd.yaml": databases} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := source.Load([]string{root}, source.Options{})
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Objects: []Object{o}, Start: start, Guard: guard.Guard{Assume: true}})
}

func database(annotations, spec Object) Object {
	return Object{"apiVersion": "acme.io/v1", "kind": "Database", "metadata": Object{"name": "d", "annotations": annotations}, "spec": spec}
}

// TestComesToRest: what a rule wants is written once, in whatever form the API server
// stores it, and not again by a process that starts anew.
func TestComesToRest(t *testing.T) {
	t.Parallel()
	const of = "  for: {apiVersion: acme.io/v1, kind: Database}\n  rules: [{name: r, do: ["
	const node = "  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: ["
	taint := Object{"apiVersion": "v1", "kind": "Node", "metadata": Object{"name": "d"}}
	const service = "  for: {apiVersion: v1, kind: Service}\n  rules: [{name: r, do: ["
	services := func(ports any) Object {
		return Object{"apiVersion": "v1", "kind": "Service", "metadata": Object{"name": "d", "namespace": "ns"}, "spec": Object{"ports": ports}}
	}
	port := func(n int64) Object {
		return Object{"port": n, "protocol": "TCP", "probe": Object{"seconds": int64(5)}}
	}
	stored := []any{Object{"key": "k", "effect": "NoSchedule", "timeAdded": "2026-01-01T12:00:00Z"}}
	since := func(text string) Object { return database(Object{"since": text}, Object{}) }
	for name, tc := range map[string]struct {
		do     string
		object Object
		path   []string
		want   any
	}{
		"a fraction": {of + `{status: {since: "${object.metadata.annotations['since']}"}}`, since("2026-01-01T12:00:00.000Z"), []string{"status", "since"}, "2026-01-01T12:00:00.000Z"},
		"an offset":  {of + `{status: {since: "${object.metadata.annotations['since']}"}}`, since("2026-01-01T12:00:00+02:00"), []string{"status", "since"}, "2026-01-01T12:00:00+02:00"},
		"a time in a list": {
			of + `{status: {times: [{name: a, at: "${object.metadata.annotations['since']}"}]}}`, since("2026-01-01T12:00:00+02:00"),
			[]string{"status", "times"}, []any{Object{"name": "a", "at": "2026-01-01T12:00:00+02:00"}},
		},
		"an entry by its time": {
			of + `{patch: {subresource: status, list: status.times, by: {at: "2026-01-01T12:00:00.0Z"}, entry: {name: a}}}`, since(""),
			[]string{"status", "times"}, []any{Object{"name": "a", "at": "2026-01-01T12:00:00.0Z"}},
		},
		"a fraction of a second": {
			node + `{patch: {value: {spec: {taints: [{key: k, effect: NoSchedule, timeAdded: "2026-01-01T12:00:00.500Z"}]}}}}`, taint,
			[]string{"spec", "taints"}, stored,
		},
		"the ports of a Service": {
			service + `{patch: {value: {spec: {ports: [{port: 80}]}}}}`, services(nil),
			[]string{"spec", "ports"}, []any{Object{"port": int64(80), "protocol": "TCP"}},
		},
		"an entry of the ports of a Service": {
			service + `{patch: {list: spec.ports, by: {port: 80}, entry: {name: http}}}`, services([]any{Object{"port": int64(81)}}),
			[]string{"spec", "ports"}, []any{Object{"port": int64(81), "protocol": "TCP"}, Object{"port": int64(80), "name": "http", "protocol": "TCP"}},
		},
		"an entry with a list": {
			"  for: {apiVersion: apps/v1, kind: Deployment}\n  rules: [{name: r, do: [" + `{patch: {list: spec.template.spec.containers, by: {name: a}, entry: {ports: [{containerPort: 80}]}}}`,
			Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": Object{"name": "d", "namespace": "ns"}, "spec": Object{"template": Object{"spec": Object{"containers": []any{Object{"name": "a", "image": "i"}}}}}},
			[]string{"spec", "template", "spec", "containers"}, []any{Object{"name": "a", "image": "i", "ports": []any{Object{"containerPort": int64(80), "protocol": "TCP"}}}},
		},
		"defaults of a CRD": {
			of + `{patch: {value: {spec: {ports: [{port: 80}], mode: null}}}}`, database(nil, Object{}),
			[]string{"spec"}, Object{"mode": "plain", "ports": []any{port(80)}},
		},
		"defaults of a CRD in the status": {
			of + `{status: {ports: [{port: 80, probe: {}}]}}`, database(nil, Object{}),
			[]string{"status", "ports"}, []any{port(80)},
		},
		"null for a default": {
			of + `{status: {ports: [{port: 80, protocol: null}]}}`, database(nil, Object{}),
			[]string{"status", "ports"}, []any{port(80)},
		},
		"a field without a value": {
			of + `{status: {members: '${["a"].map(n, {"name": dyn(n), "role": dyn(object.metadata.?labels[?"role"])})}'}}`, since(""),
			[]string{"status", "members"}, []any{Object{"name": "a"}},
		},
		"a field with a value": {
			of + `{status: {members: '${["a"].map(n, {"name": dyn(n), "role": dyn(object.metadata.?annotations[?"since"])})}'}}`, since("now"),
			[]string{"status", "members"}, []any{Object{"name": "a", "role": "now"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resting(t, tc.do+"]}]\n", tc.object)
			s.Settle(t.Context())
			s.Restart(t.Context())
			s.Settle(t.Context())
			r := s.Result()
			if len(r.Effects) != 1 || len(r.Errors) > 0 {
				t.Errorf("%v", told(r))
			}
			var got any = s.Get(ID(tc.object))
			for _, name := range tc.path {
				got, _ = got.(Object)[name]
			}
			wantSame(t, "what is stored", tc.want, got)
		})
	}
}

// literal writes a random expression of a value with optionals in it.
func literal(r *rand.Rand, depth int) string {
	parts := make([]string, r.IntN(4))
	switch n := r.IntN(6); {
	case n == 0:
		return `dyn(object.metadata.?annotations[?"none"])`
	case n == 1:
		return `dyn(object.metadata.?annotations[?"since"])`
	case n == 2 || depth == 0:
		return "dyn(1)"
	case n == 3:
		for i := range parts {
			parts[i] = literal(r, depth-1)
		}
		return "dyn([" + strings.Join(parts, ", ") + "])"
	}
	for i := range parts {
		parts[i] = fmt.Sprintf("%q: %s", string(rune('a'+i)), literal(r, depth-1))
	}
	return "dyn({" + strings.Join(parts, ", ") + "})"
}

// TestOptionalsComeToRest: whatever optionals are in what is written and remembered, a
// second evaluation of what came of it writes nothing.
func TestOptionalsComeToRest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("  for: {apiVersion: acme.io/v1, kind: Database}\n  rules:\n")
	for i := range 60 {
		v := literal(r, 3)
		fmt.Fprintf(&text, "    - {name: r%d, do: [{status: {free: {f%d: '${[%s]}'}}}, {remember: {name: m%d, value: '${{\"v\": %s}}'}}]}\n", i, i, v, i, v)
	}
	s := resting(t, text.String(), database(Object{"since": "now"}, Object{}))
	s.Settle(t.Context())
	s.Restart(t.Context())
	s.Settle(t.Context())
	if r := s.Result(); len(r.Effects) != 1 || len(r.Errors) > 0 {
		t.Errorf("%v", told(r))
	}
}

// TestStampedTime: a policy that writes the time of each evaluation never comes to rest, as in
// a cluster, where no two evaluations are at one time. One with a condition, or with a
// deadline, does.
func TestStampedTime(t *testing.T) {
	t.Parallel()
	const stamp = "annotations: {set: {at: \"${string(now)}\"}}"
	for when, rests := range map[string]bool{
		"'true'":                          false,
		"'object.metadata.name == \"a\"'": false,
		"'!has(object.metadata.annotations) || !(\"at\" in object.metadata.annotations)'":                          true,
		"'object.metadata.?annotations[?\"at\"].optMap(t, elapsed(timestamp(t), duration(\"1s\"))).orValue(true)'": true,
	} {
		s := collide(t, "\n  for: {apiVersion: v1, kind: ConfigMap, selector: a=b}\n  rules: [{name: stamp, when: "+when+", do: ["+stamp+"]}]\n")
		s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b"}}})
		s.Settle(t.Context())
		if got := s.Ended() == ""; got != rests {
			t.Errorf("when %s: it rests is %v (%q)", when, got, s.Ended())
		}
		if rests && !s.Now().Equal(start) {
			t.Errorf("when %s: the clock has moved to %v", when, s.Now())
		}
	}
}

// TestChildThatARuleChanges: a field of a child that a rule changes is applied as the rule wants
// it, one that the child does not have is written beside it, and both rest.
func TestChildThatARuleChanges(t *testing.T) {
	t.Parallel()
	const spec = "\n  for: {apiVersion: v1, kind: ConfigMap, selector: a=b}\n  children:\n" +
		"    - {name: c, apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: \"${key.name}\", namespace: ns, labels: {x: one}}, v: \"${object.data.v}\"}}\n" +
		"    - {name: d, apply: {apiVersion: example.com/v1, kind: Part, metadata: {name: \"${key.name}-d\", namespace: ns}, v: \"1\"}}\n" +
		"  rules:\n    - {name: over, forEach: \"children.c.map(k, children.c[k])\", as: c, do: [{labels: {of: c, set: {x: two, y: more}}}]}\n"
	s := collide(t, spec)
	for i, want := range []int{3, 1} {
		before := len(s.Result().Effects)
		s.Apply(Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "a", "namespace": "ns", "labels": Object{"a": "b"}}, "data": Object{"v": strings.Repeat("v", i+1)}})
		s.Settle(t.Context())
		r := s.Result()
		if made := len(r.Effects) - before; made != want || len(r.Errors) > 0 {
			t.Errorf("step %d: %d writes, errors %+v", i, made, r.Errors)
		}
		labels := metadata(s.Get(ID(Object{"apiVersion": "example.com/v1", "kind": "Part", "metadata": Object{"namespace": "ns", "name": "a"}})))["labels"].(Object)
		if labels["x"] != "two" || labels["y"] != "more" {
			t.Errorf("step %d: the labels are %v", i, labels)
		}
	}
}

package properties

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// everyAction is a policy with every action that writes, on objects of every
// origin.
const everyAction = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: every}
spec:
  params: {space: demo}
  for: {apiVersion: v1, kind: Node}
  inputs:
    - {name: pods, apiVersion: v1, kind: Pod, namespace: params.space, where: item.spec.nodeName == key.name}
    - {name: sets, apiVersion: apps/v1, kind: StatefulSet, namespace: params.space}
    - {name: map, apiVersion: v1, kind: ConfigMap, get: '{"namespace": params.space, "name": key.name}'}
  rules:
    - name: fields
      do:
        - labels: {set: {a: b}}
        - annotations: {of: inputs.map, set: {a: b}}
        - status: {phase: Running}
        - condition: {type: A, status: "True", reason: A, message: b}
        - patch: {value: {spec: {unschedulable: true}}}
        - patch: {list: spec.taints, by: {key: a}, entry: {effect: NoSchedule}}
        - finalizer: {name: example.com/a}
        - event: {reason: A, message: b}
        - remember: {name: a, value: b}
        - log: {message: a}
    - name: children
      do:
        - create: {apiVersion: v1, kind: Service, metadata: {namespace: demo, name: made}}
        - apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: "${params.space}", name: applied}, data: {mode: fast}}
          ifExists: take
        - patch: {of: {apiVersion: apps/v1, kind: Deployment, namespace: demo, name: "${key.name}"}, create: true, value: {spec: {replicas: 1}}}
    - name: pods
      forEach: inputs.pods
      as: pod
      do:
        - patch: {of: pod, subresource: status, value: {status: {message: a}}}
        - delete: {of: pod}
    - name: chosen
      do:
        - select:
            candidates: [{as: set, in: inputs.sets}]
            summary: a
            pipeline: []
            then: [{labels: {of: set, set: {chosen: "yes"}}}]
    - name: restart
      forEach: inputs.sets
      debounce: {key: "${key.name}", window: 1s}
      do: [{patch: {of: item, lock: none, value: {spec: {template: {metadata: {annotations: {a: b}}}}}}}]
`

func everyWorld() []simulate.Object {
	in := func(version, kind, name string, more object) object {
		o := object{"apiVersion": version, "kind": kind, "metadata": object{"namespace": "demo", "name": name}}
		maps.Copy(o, more)
		return o
	}
	return []simulate.Object{
		{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "node-a"}},
		{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "node-b"}},
		in("apps/v1", "Deployment", "node-b", nil),
		in("v1", "Pod", "pod", object{"spec": object{"nodeName": "node-a"}}),
		in("v1", "ConfigMap", "node-a", nil), in("v1", "ConfigMap", "applied", object{"data": object{"node": "x"}}),
		in("apps/v1", "StatefulSet", "set", object{"spec": object{"template": object{"metadata": object{}}}}),
	}
}

// open allows everything that is protected.
func open(policy string) (g guard.Guard) {
	for kind, field := range map[string]string{"Node": "metadata.finalizers", "Pod": "delete"} {
		g.Allowed = append(g.Allowed, guard.Allowance{Policy: policy, Kind: kind, Field: field})
	}
	return g
}

// TestEffectsAreAllowed: every write that a policy makes is among what is
// derived that it needs, in its namespace and by its name; and everything that
// was derived is used by this one.
func TestEffectsAreAllowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "every.yaml")
	if err := os.WriteFile(path, []byte(everyAction), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(cmp.Or(err, b.Err()))
	}
	sim := simulate.New(t.Context(), simulate.Options{Policies: b.Policies, Schemas: b.Schemas, Objects: everyWorld(), Guard: open("every"), Start: time.Unix(0, 0)})
	sim.Run(t.Context(), nil, -1)
	result := sim.Result()
	if len(result.Errors) > 0 {
		t.Fatalf("%+v", result.Errors)
	}
	unused := b.Policies[0].Accesses(plan.InForce)
	allowed := slices.Clone(unused)
	for _, e := range result.Effects {
		for _, want := range requests(e) {
			if !slices.ContainsFunc(allowed, func(a plan.Access) bool { return covers(a, want) }) {
				t.Errorf("%s of %+v is not among the derived accesses", e.Verb, e.Target)
			}
			unused = slices.DeleteFunc(unused, func(a plan.Access) bool { return covers(a, want) })
		}
	}
	for _, a := range unused {
		if !slices.Contains([]string{"get", "list", "watch"}, a.Verb) {
			t.Errorf("%+v was derived and never used", a)
		}
	}
}

// requests are the accesses that an effect uses; an applied object may have to
// be made, an event to be counted up.
func requests(e simulate.Effect) (out []plan.Access) {
	gvk := schema.GVK{APIVersion: e.Target.APIVersion, Kind: e.Target.Kind}
	verbs, name := []string{e.Verb}, e.Target.Name
	switch e.Verb {
	case "event":
		gvk, verbs, name = schema.GVK{APIVersion: "v1", Kind: "Event"}, []string{"create", "patch"}, ""
	case "apply":
		verbs = []string{"create", "patch"}
	}
	for _, verb := range verbs {
		a := plan.Access{GVK: gvk, Subresource: e.Subresource, Verb: verb, Namespace: e.Target.Namespace, Name: name}
		if verb == "create" {
			a.Name = ""
		}
		out = append(out, a)
	}
	return out
}

// covers is Includes without the param that names the namespace.
func covers(a, want plan.Access) bool {
	a.Param = ""
	return a.Includes(want)
}

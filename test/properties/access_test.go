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
    - {name: csrs, apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, where: item.spec.username == key.name}
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
        - create: {apiVersion: v1, kind: Service, metadata: {namespace: demo, name: made}, spec: {ports: [{port: 80}]}}
        - apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: "${params.space}", name: applied}, data: {mode: fast}}
          ifExists: take
        - patch: {of: {apiVersion: v1, kind: ResourceQuota, namespace: demo, name: "${key.name}"}, create: true, value: {spec: {hard: {pods: "1"}}}}
    - name: pods
      forEach: inputs.pods
      as: pod
      do:
        - patch: {of: pod, subresource: status, value: {status: {message: a}}}
    - name: a deleted Pod
      forEach: inputs.pods.filter(p, p.metadata.name == "pod")
      do: [{delete: {of: item}}]
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
    - name: subresources
      do:
        - scale: {of: {apiVersion: apps/v1, kind: ReplicaSet, namespace: demo, name: "${key.name}"}, replicas: size(inputs.sets) + 1}
    - name: evictions
      forEach: inputs.pods
      as: pod
      when: pod.metadata.name != "pod"
      do: [{evict: {of: pod, gracePeriod: 0s}}]
    - name: certificates
      forEach: inputs.csrs
      as: csr
      do: [{approve: {of: csr, signer: example.com/agent, reason: Known}}]
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
		in("v1", "ResourceQuota", "node-b", nil),
		in("v1", "Pod", "pod", object{"spec": object{"nodeName": "node-a"}}), in("v1", "Pod", "moved", object{"spec": object{"nodeName": "node-a"}}),
		in("apps/v1", "ReplicaSet", "node-a", object{"spec": object{"replicas": int64(1)}}),
		{
			"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": object{"name": "csr"},
			"spec": object{"username": "node-a", "signerName": "example.com/agent"},
		},
		in("v1", "ConfigMap", "node-a", nil), in("v1", "ConfigMap", "applied", object{"data": object{"node": "x"}}),
		in("apps/v1", "StatefulSet", "set", object{"spec": object{"template": object{"metadata": object{}}}}),
	}
}

// open allows everything that is protected.
func open(policy string) (g guard.Guard) {
	g.Allowed = []guard.Allowance{
		{Kind: "Node", Field: "metadata.finalizers"},
		{Kind: "Node", Field: "metadata.labels"},
		{Kind: "Node", Field: "metadata.annotations"},
		{Kind: "Pod", Field: "metadata.labels"},
		{Group: "apps", Kind: "StatefulSet", Field: "spec.template.metadata.annotations.a"},
		{Kind: "Node", Field: "spec.taints"},
		{Kind: "Node", Field: "spec.unschedulable"},
		{Kind: "Pod", Field: "delete"},
		{Kind: "Pod", Field: "evict"},
		{Kind: "ResourceQuota", Field: "spec"},
		{Group: "apps", Kind: "ReplicaSet", Field: "scale"},
		{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest", Field: "approve:example.com/agent"},
	}
	for i := range g.Allowed {
		g.Allowed[i].Policy = policy
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

// requests are the accesses that an effect uses. An applied object may have to be
// made; an Event is counted up, and says which budget refuses an eviction; who
// approves a request must also be allowed to approve for its signer.
func requests(e simulate.Effect) []plan.Access {
	gvk := schema.GVK{APIVersion: e.Target.APIVersion, Kind: e.Target.Kind}
	event := plan.Access{GVK: schema.GVK{APIVersion: "v1", Kind: "Event"}, Namespace: e.Target.Namespace}
	object := plan.Access{GVK: gvk, Subresource: e.Subresource, Namespace: e.Target.Namespace, Name: e.Target.Name}
	switch e.Verb {
	case "event":
		return with(event, "create", "patch")
	case "apply":
		return with(object, "create", "patch")
	case "scale":
		object.Subresource = "scale"
		return with(object, "patch")
	case "evict":
		object.Subresource = "eviction"
		return append(with(object, "create"), with(event, "create", "patch")...)
	case "approve":
		object.Subresource = "approval"
		signer := plan.Access{GVK: gvk, Resource: plan.Signers, Verb: "approve", Name: "example.com/agent"}
		return append(with(object, "patch"), signer)
	}
	return with(object, e.Verb)
}

// with returns an access with each of some verbs. The server does not know the name
// of what is created.
func with(a plan.Access, verbs ...string) (out []plan.Access) {
	for _, verb := range verbs {
		a.Verb = verb
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

package graph_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/graph"
)

// acting takes an action; watching reads what the actions write.
const acting = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: act}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs:
    - {name: pods, apiVersion: v1, kind: Pod}
    - {name: requests, apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest}
  rules:
    - name: write
      do:
        - {ACTION}
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: watch}
spec:
  for: {apiVersion: v1, kind: Namespace}
  inputs:
    - {name: nodes, apiVersion: v1, kind: Node}
    - {name: pods, apiVersion: v1, kind: Pod}
    - {name: maps, apiVersion: v1, kind: ConfigMap}
    - {name: sets, apiVersion: apps/v1, kind: ReplicaSet}
    - {name: requests, apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest}
  rules:
    - name: read
      when: >-
        json.encode({'n': dyn(inputs.nodes), 'p': dyn(inputs.pods), 'm': dyn(inputs.maps), 's': dyn(inputs.sets), 'r': dyn(inputs.requests)}) != ''
      do: [{log: {message: a}}]
`

// actions are what each action writes, and that it wakes who reads it.
var actions = map[string]struct{ action, want string }{
	"labels":      {"labels: {set: {a: b}}", "Node: metadata.labels.a"},
	"annotations": {"annotations: {set: {a: b}}", "Node: metadata.annotations.a"},
	"status":      {"status: {phase: Running}", "Node: status.phase"},
	"condition":   {`condition: {type: A, status: "True", reason: A, message: b}`, "Node: status.conditions"},
	"patch":       {"patch: {value: {spec: {unschedulable: true}}}", "Node: spec.unschedulable"},
	"patch, a list": {"patch: {list: spec.taints, by: {key: a}, entry: {effect: NoSchedule}}",
		"Node: spec.taints"},
	"apply":    {"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: m}, data: {a: b}}", "ConfigMap: (creates it), data.a"},
	"once":     {"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: m}, data: {a: b}}, once: [data.a]", "ConfigMap: (creates it), data.a"},
	"ifExists": {"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: m}, data: {a: b}}, ifExists: take", "ConfigMap: (creates it), data.a"},
	"create":   {"create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: m}, data: {a: b}}", "ConfigMap: (creates it), data.a"},
	"delete":   {"delete: {of: object}", "Node: (deletes it)"},
	"scale":    {"scale: {of: {apiVersion: apps/v1, kind: ReplicaSet, namespace: a, name: s}, replicas: 2}", "ReplicaSet: spec.replicas"},
	"evict":    {"evict: {of: 'inputs.pods[0]'}", "Pod: (deletes it)"},
	"approve": {"approve: {of: 'inputs.requests[0]', signer: example.com/a}",
		"CertificateSigningRequest: status.conditions"},
	"finalizer": {"finalizer: {name: example.com/a}", "Node: metadata.finalizers"},
	"select":    {"select: {candidates: [{as: pod, in: inputs.pods}], summary: a, pipeline: [], then: [{delete: {of: pod}}]}", "Pod: (deletes it)"},
	"remember":  {"remember: {name: a, value: b}", ""},
	"event":     {"event: {reason: A, message: b}", ""},
	"log":       {"log: {message: a}", ""},
	"fail":      {"fail: a", ""},
}

// TestEveryAction: who reads what an action writes is woken by it.
func TestEveryAction(t *testing.T) {
	t.Parallel()
	for field := range reflect.TypeFor[v1alpha1.Action]().Fields() {
		if name := field.Tag.Get("yaml"); name != "" && actions[name].action == "" {
			t.Errorf("the action %s has no case", name)
		}
	}
	for name, tc := range actions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := acts(t, tc.action)
			var edges, written []string
			for _, e := range g.Edges {
				if e.To.Policy == "watch" {
					edges = append(edges, e.Kind+": "+strings.Join(e.Fields, ", "))
				}
			}
			for _, k := range g.Kinds {
				for _, w := range k.WrittenBy {
					written = append(written, k.Kind+": "+strings.Join(w.Fields, ", "))
				}
			}
			if diff := cmp.Diff([]string{tc.want, tc.want}, []string{strings.Join(written, "\n"), strings.Join(edges, "\n")}); diff != "" {
				t.Errorf("written and woken by (-want +got):\n%s", diff)
			}
		})
	}
}

const counting = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: act}
spec:
  for: {apiVersion: apps/v1, kind: Deployment}
  rules:
    - name: write
      do: [{ACTION}]
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: watch}
spec:
  for: {apiVersion: v1, kind: Namespace}
  inputs: [{name: apps, apiVersion: apps/v1, kind: Deployment}]
  rules:
    - {name: read, when: 'inputs.apps.exists(a, a.metadata.generation > 1)', do: [{log: {message: a}}]}
`

// TestGenerations: what is neither metadata nor status counts as a new generation, which
// wakes who reads that alone, and makes the order of two decisions matter.
func TestGenerations(t *testing.T) {
	t.Parallel()
	for action, counts := range map[string]bool{
		"patch: {value: {spec: {paused: true}}}": true,
		"scale: {replicas: 2}":                   true,
		"labels: {set: {a: b}}":                  false,
		"status: {replicas: 2}":                  false,
		"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: a}}": false,
	} {
		policies := loaded(t, file(t, strings.Replace(counting, "ACTION", action, 1)))
		var fields []string
		for _, e := range graph.Of(policies).Edges {
			if e.To.Policy == "watch" {
				fields = append(fields, e.Fields...)
			}
		}
		if got := slices.Contains(fields, "metadata.generation"); got != counts {
			t.Errorf("%s: the edges have %v", action, fields)
		}
		if counts && graph.Commute(policies[0], policies[1]) {
			t.Errorf("%s: either order comes to the same", action)
		}
	}
}

// acts returns the graph of a policy that takes an action, and of one that reads all of
// what is written.
func acts(t *testing.T, action string) *graph.Graph {
	t.Helper()
	return of(t, file(t, strings.Replace(acting, "ACTION", action, 1)))
}

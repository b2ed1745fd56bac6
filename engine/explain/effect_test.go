package explain_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/test/fixture"
)

const acting = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: act}
spec:
  for: {apiVersion: v1, kind: Pod}
  inputs:
    - {name: set, apiVersion: apps/v1, kind: ReplicaSet, get: '"s"'}
    - {name: request, apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, get: '"c"'}
  rules: [{name: r, do: [{%s}]}]
`

const acted = `
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: east}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: s, namespace: east}, spec: {replicas: 1}}
---
{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: c}, spec: {signerName: example.com/a}}
`

// actions are what a decision with each action is explained as: in the sentence, and
// in the list of writes.
var actions = map[string]struct{ action, sentence, write string }{
	"labels":      {"labels: {set: {a: b}}", "patches Pod p", "patch Pod east/p"},
	"annotations": {"annotations: {of: inputs.set, set: {a: b}}", "patches ReplicaSet s", "patch ReplicaSet east/s"},
	"status":      {"status: {message: a}", "patches the status of Pod p", "patch Pod east/p (status)"},
	"condition":   {`condition: {type: A, status: "True", reason: A, message: b}`, "patches the status of Pod p", "patch Pod east/p (status)"},
	"patch":       {"patch: {value: {spec: {priority: 1}}}", "patches Pod p", "patch Pod east/p"},
	"apply":       {"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: east, name: m}}", "applies ConfigMap m", "apply ConfigMap east/m"},
	"once":        {"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: east, name: m}, data: {a: b}}, once: [data.a]", "applies ConfigMap m", "apply ConfigMap east/m"},
	"ifExists":    {"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: east, name: m}}, ifExists: take", "applies ConfigMap m", "apply ConfigMap east/m"},
	"create":      {"create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: east, name: m}}", "creates ConfigMap m", "create ConfigMap east/m"},
	"delete":      {"delete: {of: object}", "deletes Pod p", "delete Pod east/p"},
	"scale":       {"scale: {of: inputs.set, replicas: 2}", "scales ReplicaSet s", "scale ReplicaSet east/s"},
	"evict":       {"evict: {of: object}", "evicts Pod p", "evict Pod east/p"},
	"approve":     {"approve: {of: inputs.request, signer: example.com/a}", "approves CertificateSigningRequest c", "approve CertificateSigningRequest c"},
	"approve, false": {"approve: {of: inputs.request, signer: example.com/a, approved: 'false'}", "denies CertificateSigningRequest c",
		"deny CertificateSigningRequest c"},
	"finalizer": {"finalizer: {name: example.com/a}", "patches Pod p", "patch Pod east/p"},
	"select": {"select: {candidates: [{as: one, in: '[inputs.set]'}], summary: a, pipeline: [], then: [{delete: {of: one}}]}", "deletes ReplicaSet s",
		"delete ReplicaSet east/s"},
	"remember": {"remember: {name: a, value: b}", "", ""},
	"event":    {"event: {reason: A, message: b}", "records an Event about Pod p", "record an Event about Pod east/p"},
	"log":      {"log: {message: a}", "", ""},
	"fail":     {"fail: \"no\"", "", ""},
}

// TestEveryAction: what a new action does is in words, too.
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
			text := explained(t, tc.action)
			if wrong(text, `the rule "r" applies, and `, tc.sentence) || wrong(text, "\nWrites\n  ", tc.write) {
				t.Errorf("want %q and %q in\n%s", tc.sentence, tc.write, text)
			}
		})
	}
}

// wrong reports whether a text lacks what comes after a prefix, or has the prefix although
// nothing comes after it.
func wrong(text, prefix, want string) bool {
	if want == "" {
		return strings.Contains(text, prefix)
	}
	return !strings.Contains(text, prefix+want)
}

// explained returns the text about a decision with an action.
func explained(t *testing.T, action string) string {
	t.Helper()
	b := fixture.Compiled(t, fmt.Sprintf(acting, action))
	sim := fixture.Simulation(t, b, fixture.Objects(t, acted), &record.Log{Size: 100, Prefix: "r"})
	r := sim.Controller("act").Reconcile(t.Context(), eval.Key{Namespace: "east", Name: "p"}, sim.Now()).Record
	var out strings.Builder
	if err := explain.Text(&out, "Pod", r.Render(t.Context())); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

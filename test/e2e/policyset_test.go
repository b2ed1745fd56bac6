package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/source"
)

// wholeSpec has every field of the spec of a PolicySet.
const wholeSpec = `
source:
  configMap: {name: edict-storage}
  digest: sha256:9f3c1a2b9f3c1a2b9f3c1a2b9f3c1a2b9f3c1a2b9f3c1a2b9f3c1a2b9f3c1a2b
pinned: true
mode: Shadow
modes: {kmm-node-entries: Disabled}
suspend: true
params:
  storage-pool-eligibility: {zoneLabel: example.com/room, limits: {a: [1, "2"]}}
allow:
  - {policy: kmm-node-modules, apiGroup: "", kind: Pod, fields: [spec.containers], namespaces: [kmm], obeys: [Module spec.selector]}
serviceAccountName: edict-policy-storage
shadowOf: {name: storage}
holds:
  - {name: inc-4711, policy: replica-scheduling, rule: place diskful replicas, key: default/orders, reason: incident 4711, by: alice, until: "2026-12-01T08:00:00Z"}
resumedAt: "2026-12-01T08:00:00Z"
rollout:
  steps: [{selector: {matchLabels: {topology.kubernetes.io/zone: a}}}, {percent: 10}, {percent: 50}]
  interval: 10m
  stop: {errors: 0, disagreements: 5%}
`

// TestPolicySetSchema: the API server stores every field of a PolicySet, sets the defaults,
// and refuses what cannot be meant.
func TestPolicySetSchema(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	if err := c.plane.InstallCRDs(t.Context(), filepath.Join(root, "api", "crds")); err != nil {
		t.Fatal(err)
	}
	sets := c.client.Resource(v1alpha1.GroupVersion.WithResource("policysets")).Namespace("default")
	create := func(name, spec string) (*unstructured.Unstructured, error) {
		set := &unstructured.Unstructured{Object: object{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "PolicySet", "metadata": object{"name": name}}}
		var fields object
		if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
			t.Fatal(err)
		}
		set.Object["spec"] = fields
		return sets.Create(t.Context(), set, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	}
	whole, err := create("whole", wholeSpec)
	if err != nil {
		t.Fatal(err)
	}
	var want object
	if err := yaml.Unmarshal([]byte(wholeSpec), &want); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(whole.Object["spec"]); got != fmt.Sprint(want) {
		t.Errorf("it is stored as\n%s, want\n%v", got, want)
	}
	plain, err := create(strings.Repeat("n", 52), "source: {configMap: {name: a}}")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(plain.Object["spec"], plain.Object["status"]), "map[mode:Shadow source:map[configMap:map[name:a]]] map[observedGeneration:-1]"; got != want {
		t.Errorf("the defaults: %s, want %s", got, want)
	}
	for spec, want := range map[string]string{
		"mode: Shadow":                                                                                "spec.source: Required value",
		"source: {configMap: {name: ''}}":                                                             "spec.source.configMap.name",
		"source: {configMap: {name: a}, digest: 'sha256:1'}":                                          "spec.source.digest",
		"{source: {configMap: {name: a}}, pinned: true}":                                              "a pinned set needs source.digest",
		"{source: {configMap: {name: a}}, mode: enforce}":                                             `supported values: "Enforce", "Shadow", "Disabled"`,
		"{source: {configMap: {name: a}}, modes: {p: Off}}":                                           "spec.modes.p",
		"{source: {configMap: {name: a}}, mode: Enforce, shadowOf: {name: b}}":                        "shadowOf needs the mode Shadow",
		"{source: {configMap: {name: a}}, allow: [{policy: p, kind: Pod, fields: [spec]}]}":           "spec.allow[0].apiGroup: Required value",
		"{source: {configMap: {name: a}}, allow: [{policy: p, apiGroup: '', kind: Pod, fields: []}]}": "spec.allow[0].fields",
		"{source: {configMap: {name: a}}, holds: [{name: h, reason: r}]}":                             "spec.holds[0].until: Required value",
		"{source: {configMap: {name: a}}, holds: [{name: h, reason: r, until: '2026-12-01T08:00:00Z'}, {name: h, reason: r, until: '2026-12-01T08:00:00Z'}]}": "Duplicate value",
		"{source: {configMap: {name: a}}, rollout: {interval: 1m, steps: []}}":                                                                                "spec.rollout.steps",
		"{source: {configMap: {name: a}}, rollout: {interval: 1m, steps: [{}]}}":                                                                              "spec.rollout.steps[0]",
		"{source: {configMap: {name: a}}, rollout: {interval: 1m, steps: [{percent: 1, selector: {}}]}}":                                                      "spec.rollout.steps[0]",
		"{source: {configMap: {name: a}}, rollout: {interval: 1m, steps: [{percent: 20}, {selector: {}}, {percent: 10}]}}":                                    "percent must not fall from step to step",
		"{source: {configMap: {name: a}}, rollout: {interval: 0s, steps: [{percent: 20}]}}":                                                                   "must be a duration above 0",
		"{source: {configMap: {name: a}}, rollout: {interval: 1m, steps: [" + strings.Repeat("{percent: 1}, ", 21) + "]}}":                                    "spec.rollout.steps: Too many",
		"{source: {configMap: {name: a}}, sources: []}":                                                                                                       `unknown field "spec.sources"`,
	} {
		if _, err := create("wrong", spec); !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	if _, err := create(strings.Repeat("n", 53), "source: {configMap: {name: a}}"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "at most 52 characters") {
		t.Errorf("a name of 53 characters: %v", err)
	}
	status := maps.Clone(plain.Object)
	status["status"] = object{"observedGeneration": int64(1), "conditions": []any{object{"type": "Ready", "status": "True", "reason": "Enforcing", "message": "", "lastTransitionTime": "2026-12-01T08:00:00Z"}}}
	if _, err := sets.UpdateStatus(t.Context(), &unstructured.Unstructured{Object: status}, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
}

// TestStatusGivesNoRights: a text that a set with a digest does not name any more runs on, but does not
// start again, though the status names it as the last good one.
func TestStatusGivesNoRights(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	good, bad := marks("one", "one", "a"), strings.Replace(marks("one", "one", "b"), "params.value", "params.valeu", 1)
	digested := func(text string) object {
		m := source.ConfigMap{Data: map[string]string{"one.yaml": text}}
		return object{"configMap": object{"name": "one"}, "digest": m.Digest()}
	}
	c.putSet("one", map[string]string{"one.yaml": good}, object{"pinned": true, "source": digested(good)})
	edict := c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.put(textOf("one", map[string]string{"one.yaml": bad}))
	c.patchSet("one", object{"source": digested(bad)})
	c.wants("one", "Ready", "False LastGoodEnforced", "one.yaml:12")
	edict.stop()
	c.fromSets(nil)
	c.wants("one", "Ready", "False NothingEnforced", "one.yaml:12")
	c.patchSet("one", object{"source": digested(good)}) // the history has it
	c.wants("one", "Ready", "True Enforcing")
}

// TestSetsThatShareAField: two sets that enforce one field both run, and both say so.
func TestSetsThatShareAField(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.braked = true
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "mark", "a")})
	c.fromSets(nil)
	c.wantMarks("a", map[string]string{"mark": "a"})
	c.wants("one", "Accepted", "True Accepted: all policies are accepted")
	c.putSet("two", map[string]string{"two.yaml": marks("two", "mark", "b")})
	c.wants("two", "Accepted", "True Accepted", `the rule "mark" of two/two writes metadata.labels.mark of Node, and so does the rule "mark" of one/one`)
	c.wants("one", "Accepted", "True Accepted", "two/two")
	c.wantEvent("FieldShared")
}

// TestRestartSafe: a set whose policy reads a field that its CRD no longer has continues, and says that it
// would not start again.
func TestRestartSafe(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	path := filepath.Join(root, "examples", "cookbook", "app", "schemas")
	crd, err := os.ReadFile(filepath.Join(path, "app.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.plane.InstallCRDs(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(marks("one", "one", "a"), "{apiVersion: v1, kind: Node}", "{apiVersion: platform.example.com/v1, kind: App}\n  variables: [{name: p, expression: \"object.spec.?port.orValue(1)\"}]", 1)
	c.putSet("one", map[string]string{"one.yaml": strings.Replace(text, "${params.value}", "p-${string(variables.p)}", 1)})
	c.fromSets(nil)
	c.wants("one", "Ready", "True Enforcing")
	c.lacks("one", "RestartSafe")
	folder := writeFolder(t, map[string]string{"app.yaml": strings.Replace(string(crd), "                port: {type: integer}\n", "", 1)})
	if err := c.plane.InstallCRDs(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	c.wants("one", "RestartSafe", "False FieldRemoved", "port")
	c.wants("one", "Ready", "True Enforcing")
}

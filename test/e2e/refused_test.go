package e2e

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/controlplane"
)

// TestRefusedNames: a policy is an error because of a finalizer or a condition without a
// reason where the API server refuses what it would write, and only there.
func TestRefusedNames(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	template := object{"metadata": object{"labels": object{"a": "b"}}, "spec": object{"containers": []any{object{"name": "c", "image": "i"}}, "restartPolicy": "Never"}}
	always := object{"metadata": template["metadata"], "spec": object{"containers": []any{object{"name": "c", "image": "i"}}}}
	manifests := []object{
		{"apiVersion": "v1", "kind": "Node"},
		{"apiVersion": "v1", "kind": "ConfigMap"},
		{"apiVersion": "v1", "kind": "Service", "spec": object{"ports": []any{object{"port": int64(80)}}}},
		{"apiVersion": "apps/v1", "kind": "Deployment", "spec": object{"selector": object{"matchLabels": object{"a": "b"}}, "template": always}},
		{"apiVersion": "batch/v1", "kind": "Job", "spec": object{"template": template}},
		{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": object{"maxUnavailable": int64(1), "selector": object{"matchLabels": object{"a": "b"}}}},
		{"apiVersion": storage, "kind": "ReplicatedVolume", "spec": object{"size": "1Gi", "replicatedStorageClassName": "x"}},
	}
	for _, o := range manifests {
		for _, name := range []string{"mine", "example.com/mine", "foregroundDeletion"} {
			action := fmt.Sprintf("finalizer: {name: %s}", name)
			o["metadata"] = object{"name": "x", "namespace": "default", "finalizers": []any{name}}
			c.compareRefusals(o, action, "")
		}
	}
	replica := object{"apiVersion": storage, "kind": "ReplicatedVolumeReplica", "spec": object{"replicatedVolumeName": "x", "type": "Diskful"}}
	for _, o := range []object{manifests[2], replica} {
		for _, reason := range []string{"", "Fine"} {
			action := `condition: {type: Ready, status: "True"}`
			if reason != "" {
				action = fmt.Sprintf(`condition: {type: Ready, status: "True", reason: %s}`, reason)
			}
			o["metadata"] = object{"name": "y", "namespace": "default"}
			o["status"] = object{"conditions": []any{object{"type": "Ready", "status": "True", "reason": reason, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}
			c.compareRefusals(o, action, "status")
		}
	}
}

// compareRefusals compares whether a policy with an action on objects of a kind is an error
// with whether the API server refuses what comes of it.
func (c *cluster) compareRefusals(o object, action, subresource string) {
	c.t.Helper()
	kind, _, _ := names(o)
	checked := problems(c.t, fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: %s, kind: %s}\n  rules: [{name: r, do: [{%s}]}]\n", o["apiVersion"], kind, action))
	refused := c.refusal(&unstructured.Unstructured{Object: o}, subresource)
	if (checked == nil) != (refused == nil) {
		c.t.Errorf("%s of a %s: the API server says %v, the policy %v", action, kind, refused, checked)
	}
}

// problems returns what is wrong with the policies of a text; nil is nothing.
func problems(t *testing.T, text string) error {
	t.Helper()
	contents := source.Read(nil, &source.ConfigMap{Namespace: "n", Name: "m", Data: map[string]string{"p.yaml": text}})
	schemas := schema.NewSet(schema.Builtin())
	if err := schemas.AddFolder(crds); err != nil {
		t.Fatal(err)
	}
	b, err := source.Assemble(contents.Units, schemas, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Err()
}

// refusal returns why the API server would refuse an object, or its status; nil is that it
// takes it.
func (c *cluster) refusal(u *unstructured.Unstructured, subresource string) error {
	c.t.Helper()
	u = u.DeepCopy()
	namespace := u.GetNamespace()
	if k := u.GetKind(); k == "Node" || strings.HasPrefix(k, "Replicated") {
		namespace = ""
		u.SetNamespace("")
	}
	client := c.of(u.GetKind(), namespace)
	var err error
	if subresource == "" {
		_, err = client.Create(c.t.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	} else {
		if _, err := client.Create(c.t.Context(), u, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			c.t.Fatal(err)
		}
		var now *unstructured.Unstructured
		if now, err = client.Get(c.t.Context(), u.GetName(), metav1.GetOptions{}); err != nil {
			c.t.Fatal(err)
		}
		now.Object["status"] = u.Object["status"]
		_, err = client.UpdateStatus(c.t.Context(), now, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	if err != nil && !apierrors.IsInvalid(err) {
		c.t.Fatal(err)
	}
	return err
}

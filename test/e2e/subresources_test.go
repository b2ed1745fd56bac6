package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/run"
)

// TestSubresources scales a StatefulSet, and evicts the Pods of a Node as far as a budget
// allows it: a refused eviction is no error, is told by an Event, and is tried again.
func TestSubresources(t *testing.T) {
	t.Parallel()
	const space = "default"
	c := start(t, false)
	workers := workload("StatefulSet", "web", 1, nil)
	workers["metadata"].(object)["labels"] = object{"example.com/workers": "true"}
	c.put(workers)
	c.put(object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "n", "annotations": object{"example.com/drain": "no"}}})
	for _, name := range []string{"one", "two"} {
		c.put(object{
			"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name, "namespace": space, "labels": object{"app": "a"}},
			"spec": object{"nodeName": "n", "containers": []any{object{"name": "c", "image": "i"}}},
		})
		c.merge("Pod", space, name, "status", object{"status": object{"phase": "Running", "conditions": []any{object{"type": "Ready", "status": "True"}}}})
	}
	c.put(object{
		"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": object{"name": "a", "namespace": space},
		"spec": object{"maxUnavailable": 1, "selector": object{"matchLabels": object{"app": "a"}}},
	})
	allow := func() {
		c.merge("PodDisruptionBudget", space, "a", "status", object{"status": object{
			"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2,
		}})
	}
	allow()
	first := c.run(func(o *run.Options) {
		o.Policies = []string{filepath.Join(cookbook, "node-drain"), filepath.Join(cookbook, "workers-by-jobs")}
	})
	first.running("node-drain", "workers-by-jobs")

	replicas := func(want int64) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d replicas", want), func() string {
			if got, _, _ := unstructured.NestedInt64(c.get("StatefulSet", space, "web").Object, "spec", "replicas"); got != want {
				return fmt.Sprint(got)
			}
			return ""
		})
	}
	replicas(0)
	for i := range 6 {
		c.put(object{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": fmt.Sprintf("j%d", i), "namespace": space},
			"spec": object{"template": object{"spec": object{"restartPolicy": "Never", "containers": []any{object{"name": "c", "image": "i"}}}}},
		})
	}
	replicas(2)

	c.merge("Node", "", "n", "", object{"metadata": object{"annotations": object{"example.com/drain": "true"}}})
	going := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d Pods are evicted", want), func() string {
			n := 0
			for _, name := range []string{"one", "two"} {
				if pod := c.get("Pod", space, name); pod == nil || pod.GetDeletionTimestamp() != nil {
					n++
				}
			}
			if n != want {
				return fmt.Sprint(n)
			}
			return ""
		})
	}
	going(1)
	eventually(t, "an Event about the refusal", func() string {
		list, err := c.client.Resource(kschema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(space).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=EvictionRefused"})
		if err != nil {
			return err.Error()
		}
		if len(list.Items) != 1 {
			return fmt.Sprintf("%d Events", len(list.Items))
		}
		return ""
	})
	going(1)
	allow()
	going(2)
}

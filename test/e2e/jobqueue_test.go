package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// TestJobQueue takes from a queue as many Jobs as fit, and more when one ends.
func TestJobQueue(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	const space = "default"
	c := start(t, false)
	c.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "queues"}})
	c.put(object{
		"apiVersion": "v1", "kind": "ConfigMap", "data": object{"cpu": "3"},
		"metadata": object{"name": "gpu", "namespace": "queues", "labels": object{"queue.example.com/queue": "true"}},
	})
	cpus := map[string]string{"a": "2", "b": "2", "c": "500m"}
	for name, cpu := range cpus {
		c.put(object{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": name, "namespace": space, "labels": object{"queue.example.com/name": "gpu"}},
			"spec": object{"suspend": true, "template": object{"spec": object{"restartPolicy": "Never", "containers": []any{
				object{"name": "c", "image": "i", "resources": object{"requests": object{"cpu": cpu}}}}}}},
		})
	}
	c.run(func(o *run.Options) { o.Policies = []string{filepath.Join(cookbook, "job-queue")} }).running("job-queue")
	started := func() (out []string) {
		for name := range cpus {
			if suspended, _, _ := unstructured.NestedBool(c.get("Job", space, name).Object, "spec", "suspend"); !suspended {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	var first string
	eventually(t, "one large Job and the small one are started", func() string {
		got := started()
		if len(got) != 2 || got[1] != "c" {
			return fmt.Sprint(got)
		}
		first = got[0]
		return ""
	})
	c.merge("Job", space, first, "status", object{"status": object{
		"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:01:00Z", "succeeded": 1, "uncountedTerminatedPods": object{},
		"conditions": []any{object{"type": "SuccessCriteriaMet", "status": "True"}, object{"type": "Complete", "status": "True"}},
	}})
	eventually(t, "the other large Job is started", func() string {
		if got := started(); len(got) != 3 {
			return fmt.Sprint(got)
		}
		return ""
	})
}

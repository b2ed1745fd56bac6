package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

var cookbook = filepath.Join(root, "examples", "cookbook")

// exists waits until an object is there, or is not.
func (c *cluster) exists(want bool, kind, namespace, name string) {
	c.t.Helper()
	eventually(c.t, kind+" "+name, func() string {
		switch there := c.get(kind, namespace, name) != nil; {
		case there && !want:
			return "it is there"
		case !there && want:
			return "it is not there"
		}
		return ""
	})
}

func workload(kind, name string, replicas int, annotations object) object {
	labels := object{"app": name}
	return object{
		"apiVersion": "apps/v1", "kind": kind, "metadata": object{"name": name, "namespace": "default", "annotations": annotations},
		"spec": object{
			"replicas": replicas, "selector": object{"matchLabels": labels},
			"template": object{"metadata": object{"labels": labels}, "spec": object{"containers": []any{object{"name": "c", "image": "i"}}}},
		},
	}
}

// TestCookbook runs the policies of the cookbook together: what they keep is made,
// follows what it depends on, and is deleted when it is no longer wanted, also when
// that happens while the controller does not run.
func TestCookbook(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	const space = "default"
	c := start(t, false)
	if err := c.plane.InstallCRDs(t.Context(), filepath.Join(cookbook, "app", "schemas")); err != nil {
		t.Fatal(err)
	}
	for name, labels := range map[string]object{"infra": {"ca": "yes"}, "a": {"ca": "yes"}, "b": {"ca": "yes"}} {
		c.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": name, "labels": labels}})
	}
	c.put(workload("Deployment", "web", 3, nil))
	c.put(workload("StatefulSet", "db", 2, object{"service-per-pod-ports": "80:8080,443"}))
	c.put(object{
		"apiVersion": "v1", "kind": "ConfigMap", "data": object{"pem": "one", "old": "x"},
		"metadata": object{"name": "ca", "namespace": "infra", "annotations": object{"example.com/copy-to": "ca=yes"}},
	})
	c.put(object{"apiVersion": "platform.example.com/v1", "kind": "App", "metadata": object{"name": "shop", "namespace": space}, "spec": object{"image": "i", "port": 8080}})
	first := c.run(func(o *run.Options) { o.Policies = []string{cookbook} })
	first.running("app", "deployment-pdb", "configmap-copy", "service-per-pod")

	c.exists(true, "PodDisruptionBudget", space, "web-auto")
	c.exists(true, "Service", space, "db-0")
	c.exists(true, "Service", space, "db-1")
	c.exists(true, "ConfigMap", "a", "ca")
	c.exists(true, "ConfigMap", "b", "ca")
	c.exists(true, "Deployment", space, "shop")
	c.exists(false, "Service", space, "shop") // the Deployment is not available
	if held := c.get("App", space, "shop").GetFinalizers(); !slices.Equal(held, []string{"platform.example.com/children"}) {
		t.Errorf("the App has children and the finalizers %v", held)
	}

	applied := func() int {
		first.evaluations("app")
		return strings.Count(first.log.String(), `"rule":["child deployment"]`)
	}
	before := applied()
	c.merge("App", space, "shop", "", object{"spec": object{"replicas": 2}}) // of which the Deployment knows once
	if n := applied() - before; n != 0 {
		t.Errorf("the Deployment is as it was, and was applied %d times", n)
	}

	c.merge("Deployment", space, "web", "", object{"spec": object{"replicas": 1}})
	c.exists(false, "PodDisruptionBudget", space, "web-auto")
	c.merge("StatefulSet", space, "db", "", object{"spec": object{"replicas": 1}})
	c.exists(false, "Service", space, "db-1")
	c.merge("Namespace", "", "b", "", object{"metadata": object{"labels": object{"ca": "no"}}})
	c.exists(false, "ConfigMap", "b", "ca")
	c.merge("ConfigMap", "infra", "ca", "", object{"data": object{"old": nil}})
	eventually(t, "the copy", func() string {
		data, _, _ := unstructured.NestedStringMap(c.get("ConfigMap", "a", "ca").Object, "data")
		if _, there := data["old"]; there {
			return "a key that was removed is in it"
		}
		return ""
	})
	c.merge("Deployment", space, "shop", "status", object{"status": object{
		"observedGeneration": 1, "replicas": 1, "availableReplicas": 1, "readyReplicas": 1,
		"conditions": []any{object{"type": "Available", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}},
	}})
	c.exists(true, "Service", space, "shop")

	c.merge("Deployment", space, "shop", "", object{"metadata": object{"finalizers": []any{"example.com/slow"}}})
	c.delete("App", space, "shop")
	c.exists(false, "Service", space, "shop")
	c.exists(true, "App", space, "shop") // until its Deployment is gone
	c.merge("Deployment", space, "shop", "", object{"metadata": object{"finalizers": nil}})
	c.exists(false, "Deployment", space, "shop")
	c.exists(false, "App", space, "shop")

	first.evaluations("configmap-copy")
	first.stop()
	c.delete("ConfigMap", "infra", "ca")
	c.merge("StatefulSet", space, "db", "", object{"metadata": object{"annotations": object{"service-per-pod-ports": nil}}})
	second := c.run(func(o *run.Options) { o.Policies = []string{cookbook} })
	second.running("configmap-copy", "service-per-pod")
	c.exists(false, "ConfigMap", "a", "ca")
	c.exists(false, "Service", space, "db-0")
	c.exists(true, "StatefulSet", space, "db")
}

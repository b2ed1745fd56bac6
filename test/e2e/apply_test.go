package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// children applies a Service, a ConfigMap, a workload and a quota, all of which
// a real API server stores in another form than they are written.
func children(o *run.Options) {
	o.Policies = []string{
		filepath.Join(root, "engine", "policytest", "testdata", "apply", "policy.yaml"),
		filepath.Join(root, "engine", "policytest", "testdata", "apply", "allowances.yaml"),
	}
}

// TestAppliedChildrenRest: what a real API server fills in and writes in
// another form is not applied again, neither by another process nor when the
// key is evaluated anew; what others change is put right.
func TestAppliedChildrenRest(t *testing.T) {
	const space = "default"
	c := start(t, false)
	app := object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "a", "namespace": space, "labels": object{"app": "yes"}}, "data": object{"x": "1"}}
	c.put(app)
	first := c.run(children)
	first.running("children")
	eventually(t, "the children", func() string {
		if c.get("Deployment", space, "a") == nil || c.get("ResourceQuota", space, "a") == nil {
			return "not all are there"
		}
		if n := first.written("children"); n < 4 { // it may be counted later
			return fmt.Sprintf("%v writes are counted, want 4", n)
		}
		return ""
	})
	first.evaluations("children")
	before := first.written("children") // of the process, which both run in
	first.stop()

	second := c.run(children)
	second.running("children")
	evaluated := second.evaluations("children")
	for n := range 3 {
		c.merge("ConfigMap", space, "a", "", object{"data": object{"x": fmt.Sprint("again ", n)}})
	}
	c.merge("ConfigMap", space, "a", "", object{"data": object{"cpu": "1"}})
	eventually(t, "evaluations", func() string {
		if second.evaluations("children") == evaluated {
			return "the key was not evaluated again"
		}
		return ""
	})
	if n := second.written("children") - before; n != 0 {
		t.Errorf("%v writes to settled children", n)
	}

	c.merge("Deployment", space, "a", "", object{"spec": object{"replicas": 5}})
	c.merge("Service", space, "a", "", object{"metadata": object{"labels": object{"of": "somebody"}}})
	eventually(t, "what was changed", func() string {
		if got := c.get("Service", space, "a").GetLabels()["of"]; got != "a" {
			return "the label is " + got
		}
		return ""
	})
	second.evaluations("children")
	if n := second.written("children") - before; n != 1 {
		t.Errorf("%v writes, want that of the label", n)
	}
	if n, _, _ := unstructured.NestedInt64(c.get("Deployment", space, "a").Object, "spec", "replicas"); n != 5 {
		t.Errorf("%d replicas: what is said once was written again", n)
	}

	c.merge("ConfigMap", space, "a", "", object{"data": object{"extra": "e"}})
	wait := func(want string) {
		t.Helper()
		eventually(t, "the field that is applied at times", func() string {
			data, _, _ := unstructured.NestedStringMap(c.get("ConfigMap", space, "a-made").Object, "data")
			if got := data["extra"]; got != want {
				return fmt.Sprintf("%q, want %q", got, want)
			}
			return ""
		})
	}
	wait("e")
	c.merge("ConfigMap", space, "a", "", object{"data": object{"extra": nil}})
	wait("")
}

// TestAppliesRefuseOthersObjects: an object that somebody else has made is left
// alone.
func TestAppliesRefuseOthersObjects(t *testing.T) {
	t.Parallel()
	const space = "default"
	c := start(t, false)
	c.put(object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "a", "namespace": space}, "spec": object{"ports": []any{object{"port": 99}}}})
	made := c.get("Service", space, "a").GetResourceVersion()
	c.put(object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "a", "namespace": space, "labels": object{"app": "yes"}}, "data": object{"x": "1"}})
	o := c.run(children)
	o.running("children")
	eventually(t, "the refusal", func() string {
		if !strings.Contains(o.log.String(), "Service default/a exists and is not this policy's (its managers are ") {
			return "it is not in the log"
		}
		return ""
	})
	if got := c.get("Service", space, "a").GetResourceVersion(); got != made {
		t.Error("the Service was written")
	}
}

// TestUntypedApply: a real API server answers an apply that it cannot read by the schema of
// the kind with status 500 and no reason. It is told by its words.
func TestUntypedApply(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	services := c.of("Service", "default")
	for name, ports := range map[string][]any{
		"two entries of one key":  {object{"name": "a", "port": int64(80), "protocol": "TCP"}, object{"name": "b", "port": int64(80), "protocol": "TCP"}},
		"a value of another type": {object{"name": "a", "port": "x", "protocol": "TCP"}},
	} {
		bad := &unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "bad", "namespace": "default"}, "spec": object{"ports": ports}}}
		if _, err := services.Apply(t.Context(), "bad", bad, metav1.ApplyOptions{FieldManager: "test"}); !apply.IsRejected(err) || !apply.IsLasting(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

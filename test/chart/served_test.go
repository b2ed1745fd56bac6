package chart

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/test/controlplane"
)

// TestServed asks a real API server about every object that the chart renders,
// with the CRDs that cert-manager and the Prometheus operator publish, in a
// namespace for restricted Pods.
func TestServed(t *testing.T) {
	c := startCluster(t, controlplane.Options{})
	for _, name := range []string{namespace, "shipshape", "storage", "d8-sds-replicated-volume"} {
		c.namespace(name)
	}
	for _, file := range append(publishedCRDs(t), filepath.Join(chart, "crds")) {
		if err := c.plane.InstallCRDs(t.Context(), file); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			for _, one := range objects(t, template(t, "--values", values(set))) {
				for _, each := range append(podsOf(one), one) {
					if err := c.try(each); err != nil {
						t.Errorf("%s %s: %v", each.GetKind(), each.GetName(), err)
					}
				}
			}
		})
	}
	t.Run("what is wrong is refused", func(t *testing.T) { refusesWhatIsWrong(t, c) })
}

// refusesWhatIsWrong shows that the test above could fail.
func refusesWhatIsWrong(t *testing.T, c *cluster) {
	list := objects(t, template(t, "--values", values("everything")))
	for name, test := range map[string]struct {
		kind, want string
		field      []string
	}{
		"an unknown field":        {"ServiceMonitor", `unknown field "spec.selectr"`, []string{"spec", "selectr"}},
		"an unknown native field": {"NetworkPolicy", `unknown field "spec.podSelectr"`, []string{"spec", "podSelectr"}},
	} {
		o := list[0]
		for _, one := range list {
			if one.GetKind() == test.kind {
				o = one.DeepCopy()
			}
		}
		if err := unstructured.SetNestedMap(o.Object, map[string]any{}, test.field...); err != nil {
			t.Fatal(err)
		}
		if err := c.try(o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: want %q, got %v", name, test.want, err)
		}
	}
	pod := podsOf(find(list, "Deployment", release))[0]
	unstructured.RemoveNestedField(pod.Object, "spec", "securityContext", "seccompProfile")
	if err := c.try(pod); err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a Pod without a seccomp profile: want it refused, got %v", err)
	}
}

// podsOf returns the Pod that a workload's template makes: only a Pod is judged
// by the namespace's level.
func podsOf(o *object) []*object {
	if kind := o.GetKind(); kind != "Deployment" && kind != "Job" {
		return nil
	}
	pod, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	made := &object{Object: pod}
	made.SetName(o.GetName())
	made.SetNamespace(o.GetNamespace())
	return []*object{made}
}

// published are modules that hold CRDs as their projects publish them.
var published = []struct {
	module, version, sum, folder string
	crds                         []string
}{
	{
		"github.com/cert-manager/cert-manager", "v1.21.2", "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
		"deploy/crds", []string{"cert-manager.io_certificates", "cert-manager.io_issuers"},
	},
	{
		"github.com/prometheus-operator/prometheus-operator", "v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
		"example/prometheus-operator-crd", []string{"monitoring.coreos.com_servicemonitors", "monitoring.coreos.com_prometheusrules"},
	},
}

// publishedCRDs returns the paths of the CRDs. They stay out of go.mod: nothing is
// compiled of these modules.
func publishedCRDs(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, from := range published {
		command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", from.module+"@"+from.version)
		command.Dir = t.TempDir()
		text, err := command.Output()
		var module struct{ Dir, Sum, Error string }
		if err == nil {
			err = json.Unmarshal(text, &module)
		}
		if err != nil {
			t.Fatalf("downloading %s: %v %s", from.module, err, text)
		}
		if module.Sum != from.sum {
			t.Fatalf("%s is %s, not %s", from.module, module.Sum, from.sum)
		}
		for _, crd := range from.crds {
			files = append(files, filepath.Join(module.Dir, from.folder, crd+".yaml"))
		}
	}
	return files
}

package e2e

import (
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/edict-dev/edict/api/v1alpha1"

	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

const home = "edict-system"

// textOf is a ConfigMap with texts.
func textOf(name string, data map[string]string) object {
	content := object{}
	for k, v := range data {
		content[k] = v
	}
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "namespace": home}, "data": content}
}

// set is a PolicySet that enforces the policies of the ConfigMap of the same name. Fields of the spec
// replace those of it.
func set(name string, fields ...object) object {
	spec := object{"source": object{"configMap": object{"name": name}}, "mode": "Enforce", "allow": marking()}
	for _, f := range fields {
		maps.Copy(spec, f)
	}
	return object{"apiVersion": "edict.dev/v1alpha1", "kind": "PolicySet", "metadata": object{"name": name, "namespace": home}, "spec": spec}
}

// putSet writes a PolicySet and the ConfigMap that it runs.
func (c *cluster) putSet(name string, data map[string]string, fields ...object) {
	c.t.Helper()
	c.put(textOf(name, data))
	c.put(set(name, fields...))
}

// patchSet merges fields into the spec of a set.
func (c *cluster) patchSet(name string, fields object) {
	c.t.Helper()
	c.merge("PolicySet", home, name, "", object{"spec": fields})
}

// marks is a policy that labels every node.
func marks(name, label, value string) string {
	return fmt.Sprintf(`apiVersion: edict.dev/v1alpha1
kind: Policy
metadata:
  name: %s
spec:
  for: {apiVersion: v1, kind: Node}
  params:
    value: {default: %s, description: what the label says}
  rules:
    - name: mark
      do:
        - labels: {set: {%s: "${params.value}"}}
`, name, value, label)
}

// fromSets runs a controller that follows PolicySets.
func (c *cluster) fromSets(change func(*run.Options)) *controller {
	c.t.Helper()
	return c.run(func(o *run.Options) {
		o.Policies, o.PolicyNamespace, o.Params = nil, home, nil
		if change != nil {
			change(o)
		}
	})
}

// home makes the namespace of the controller, and installs the CRD of PolicySets.
func (c *cluster) home() {
	c.t.Helper()
	c.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": home}})
	if err := c.plane.InstallCRDs(c.t.Context(), filepath.Join(root, "api", "crds")); err != nil {
		c.t.Fatal(err)
	}
}

// wantMarks waits for the labels of a node.
func (c *cluster) wantMarks(name string, want map[string]string) {
	c.t.Helper()
	eventually(c.t, "the labels of "+name, func() string {
		got := maps.Clone(c.get("Node", "", name).GetLabels())
		delete(got, "topology.kubernetes.io/zone")
		if len(got) == 0 && len(want) == 0 || maps.Equal(got, want) {
			return ""
		}
		return fmt.Sprintf("want %v, got %v", want, got)
	})
}

// condition returns a condition of a set as TYPE=STATUS REASON: MESSAGE; empty if it has none.
func (c *cluster) condition(name, kind string) string {
	c.t.Helper()
	o := c.get("PolicySet", home, name)
	if o == nil {
		return ""
	}
	var s v1alpha1.PolicySet
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &s); err != nil {
		c.t.Fatal(err)
	}
	one := meta.FindStatusCondition(s.Status.Conditions, kind)
	if one == nil || one.ObservedGeneration != s.Generation {
		return ""
	}
	return fmt.Sprintf("%s=%s %s: %s", one.Type, one.Status, one.Reason, one.Message)
}

// wants waits until a condition of a set, such as Ready, contains texts such as "True Enforcing".
func (c *cluster) wants(name, kind string, texts ...string) {
	c.t.Helper()
	eventually(c.t, "the condition "+kind+" of "+name, func() string {
		got := c.condition(name, kind)
		for _, text := range texts {
			if !strings.Contains(got, text) {
				return fmt.Sprintf("want %q in %q", text, got)
			}
		}
		return ""
	})
}

// lacks waits until a set has not a condition.
func (c *cluster) lacks(name, kind string) {
	c.t.Helper()
	eventually(c.t, "the end of the condition "+kind+" of "+name, func() string { return c.condition(name, kind) })
}

// TestPolicySets: policies come, change, break, are mended and go with their sets; one that is
// broken disturbs no other and does not stop what ran before, not even through a restart of the
// controller. Without its ConfigMap a set goes on.
func TestPolicySets(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.putSet("two", map[string]string{"two.yaml": marks("two", "two", "a"), "more.yaml": marks("more", "more", "a")})
	edict := c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a", "two": "a", "more": "a"})
	c.wants("one", "Ready", "True Enforcing")
	c.wants("two", "Enforcing", "True Enforcing")

	c.put(textOf("one", map[string]string{"one.yaml": marks("one", "one", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "a", "more": "a"})

	broken := strings.Replace(marks("two", "two", "b"), "params.value", "params.valeu", 1)
	c.put(textOf("two", map[string]string{"two.yaml": broken, "more.yaml": marks("more", "more", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "a", "more": "b"})
	c.wants("two", "Ready", "False LastGoodEnforced", "two.yaml:12:")
	c.wants("two", "Accepted", "False InvalidText")
	c.wants("two", "Stalled", "True")
	if log := edict.log.String(); !strings.Contains(log, `"the policy is refused","policy":"two/two","error":"edict-system/two/two.yaml:12:`) {
		t.Error("the log does not say what is refused")
	}

	c.put(textOf("two", map[string]string{"two.yaml": "]", "more.yaml": marks("more", "more", "b")}))
	c.wants("two", "Ready", "False LastGoodEnforced", "two.yaml:1:1: error: not valid YAML")
	edict.stop()
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"two": nil}}})
	edict = c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "b", "two": "a", "more": "b"})

	c.put(textOf("two", map[string]string{"two.yaml": marks("two", "two", "c"), "more.yaml": marks("more", "more", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "c", "more": "b"})
	c.wants("two", "Ready", "True Enforcing")

	c.delete("ConfigMap", home, "one")
	c.wants("one", "Ready", "False LastGoodEnforced", "the ConfigMap one does not exist")
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil}}})
	c.wantMarks("a", map[string]string{"one": "b", "two": "c", "more": "b"})
	c.delete("PolicySet", home, "one")
	eventually(t, "the end of one", func() string {
		if !strings.Contains(edict.log.String(), `"the policy no longer runs","policy":"one/one"`) {
			return "it still runs"
		}
		return ""
	})
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "two": nil}}})
	c.wantMarks("a", map[string]string{"two": "c", "more": "b"})
}

// TestStatusSettles: a status that says the same is not written again.
func TestStatusSettles(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	params := object{}
	for _, stranger := range []string{"u", "v", "w", "x", "y", "z"} {
		params[stranger] = object{"b": int64(1), "a": int64(1)}
	}
	params["one"] = object{"value": "b"}
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")}, object{"params": params})
	c.put(node("a", "z", true, time.Now()))
	c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "b"})
	c.wants("one", "Ready", "True Enforcing")
	<-time.After(20 * time.Second) // the numbers are written by then
	before := c.get("PolicySet", home, "one").GetResourceVersion()
	<-time.After(20 * time.Second)
	if after := c.get("PolicySet", home, "one").GetResourceVersion(); after != before {
		t.Errorf("the status is written again and again: version %s, then %s", before, after)
	}
}

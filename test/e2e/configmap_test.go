package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

const home = "edict-system"

// policyMap is a ConfigMap of policies.
func policyMap(name string, data map[string]string) object {
	return labelledMap(name, "edict.dev/policy", data)
}

func paramsMap(name string, data map[string]string) object {
	return labelledMap(name, "edict.dev/params", data)
}

func labelledMap(name, label string, data map[string]string) object {
	content := object{}
	for k, v := range data {
		content[k] = v
	}
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "namespace": home, "labels": object{label: "true"}}, "data": content}
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

// fromConfigMaps runs a controller that follows ConfigMaps.
func (c *cluster) fromConfigMaps(change func(*run.Options)) *controller {
	c.t.Helper()
	return c.run(func(o *run.Options) {
		o.Policies, o.PolicyNamespace = nil, home
		if change != nil {
			change(o)
		}
	})
}

// home makes the namespace of the controller.
func (c *cluster) home() {
	c.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": home}})
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

// wantNote waits for annotations of a ConfigMap; each text must be contained,
// "" means absent.
func (c *cluster) wantNote(name string, want map[string]string) {
	c.t.Helper()
	eventually(c.t, "the annotations of "+name, func() string {
		got := c.get("ConfigMap", home, name).GetAnnotations()
		for key, text := range want {
			value, ok := got["edict.dev/"+key]
			if text == "" && ok || text != "" && !strings.Contains(value, text) {
				return fmt.Sprintf("want %s to contain %q, got %q", key, text, value)
			}
		}
		return ""
	})
}

// TestPoliciesFromConfigMaps: policies come, change, break, are mended and go
// with their ConfigMaps; one that is broken disturbs no other and does not stop
// what ran before, not even through a restart of the controller.
func TestPoliciesFromConfigMaps(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	c.put(policyMap("two", map[string]string{"two.yaml": marks("two", "two", "a"), "more.yaml": marks("more", "more", "a")}))
	edict := c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "a", "two": "a", "more": "a"})
	c.wantNote("one", map[string]string{"status": "Active", "policies": "one=", "error": ""})
	c.wantNote("two", map[string]string{"status": "Active", "policies": "more="})
	c.merge("ConfigMap", home, "two", "", object{"metadata": object{"annotations": object{"edict.dev/status": nil, "edict.dev/error": "made up"}}})
	c.wantNote("two", map[string]string{"status": "Active", "error": ""})

	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "a", "more": "a"})

	broken := strings.Replace(marks("two", "two", "b"), "params.value", "params.valeu", 1)
	c.put(policyMap("two", map[string]string{"two.yaml": broken, "more.yaml": marks("more", "more", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "a", "more": "b"})
	c.wantNote("two", map[string]string{"status": "Refused", "error": "two.yaml:12:", "policies": "two="})
	if log := edict.log.String(); !strings.Contains(log, `"the policy is refused","policy":"two","error":"edict-system/two/two.yaml:12:`) {
		t.Error("the log does not say what is refused")
	}

	c.put(policyMap("two", map[string]string{"two.yaml": "]", "more.yaml": marks("more", "more", "b")}))
	c.wantNote("two", map[string]string{"status": "Refused", "error": "two.yaml:1:1: error: not valid YAML", "policies": "two="})
	edict.stop()
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"two": nil}}})
	edict = c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "b", "two": "a", "more": "b"})

	c.put(policyMap("two", map[string]string{"two.yaml": marks("two", "two", "c"), "more.yaml": marks("more", "more", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "c", "more": "b"})
	c.wantNote("two", map[string]string{"status": "Active", "error": ""})

	c.delete("ConfigMap", home, "one")
	eventually(t, "the end of one", func() string {
		if !strings.Contains(edict.log.String(), `"the policy no longer runs","policy":"one"`) {
			return "it still runs"
		}
		return ""
	})
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "two": nil}}})
	c.wantMarks("a", map[string]string{"two": "c", "more": "b"})
}

// TestNotesSettle: what is told again is told in the same words, or else it
// would be written again, seen, and told again.
func TestNotesSettle(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	values := map[string]string{"one": "value: b"}
	for _, stranger := range []string{"u", "v", "w", "x", "y", "z"} {
		values[stranger] = "b: 1\na: 1\n"
	}
	c.put(paramsMap("values", values))
	c.put(node("a", "z", true, time.Now()))
	c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "b"})
	c.wantNote("one", map[string]string{"status": "Active"})
	c.wantNote("values", map[string]string{"status": "Active", "error": "", "warning": `there is no policy "z"`})
	before := c.get("ConfigMap", home, "values").GetResourceVersion()
	<-time.After(time.Second)
	if after := c.get("ConfigMap", home, "values").GetResourceVersion(); after != before {
		t.Errorf("the ConfigMap is written again and again: version %s, then %s", before, after)
	}
}

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

// shadowOf returns the text of a policy with mode: Shadow.
func shadowOf(policy string) string {
	return strings.Replace(policy, "\nspec:\n", "\nspec:\n  mode: Shadow\n", 1)
}

// TestModes: a shadow writes nothing and tells what it would do otherwise; an
// annotation sets modes without touching the text, and keeps the revision.
func TestModes(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("current", map[string]string{"one.yaml": marks("one", "one", "a")}))
	c.put(policyMap("next", map[string]string{"one.yaml": shadowOf(marks("one", "one", "b")), "two.yaml": shadowOf(marks("two", "two", "b"))}))
	c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.wantNote("next", map[string]string{"status": "Active", "policies": "one@shadow="})
	c.wantNote("next", map[string]string{"shadow": `"policy":"two"`})
	c.wantNote("next", map[string]string{"shadow": "patch Node a: metadata.labels.one: "})
	out, code := c.edict(program.Build(t), "shadow", "--policy-namespace", home, "one")
	for _, want := range []string{"POLICY ", "\none ", "  + patch Node a"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("edict shadow ends with %d and prints\n%s\nwithout %q", code, out, want)
		}
	}
	revision := strings.TrimPrefix(strings.Fields(c.get("ConfigMap", home, "next").GetAnnotations()["edict.dev/policies"])[0], "one@shadow=")

	c.merge("ConfigMap", home, "current", "", object{"metadata": object{"annotations": object{"edict.dev/mode": "one=Disabled"}}})
	c.wantNote("current", map[string]string{"status": "Disabled", "policies": ""})
	c.merge("ConfigMap", home, "next", "", object{"metadata": object{"annotations": object{"edict.dev/mode": "one=Enforce"}}})
	c.wantNote("next", map[string]string{"status": "Refused", "error": `the policy "one" is defined twice, first at edict-system/current/one.yaml:4:9`})
	c.delete("ConfigMap", home, "current")
	c.wantMarks("a", map[string]string{"one": "b"})
	c.wantNote("next", map[string]string{"status": "Active", "policies": "one=" + revision})

	c.merge("ConfigMap", home, "next", "", object{"metadata": object{"annotations": object{"edict.dev/mode": "Quietly"}}})
	c.wantNote("next", map[string]string{"status": "Refused", "error": `unknown mode "Quietly"`, "policies": "one=" + revision})
}

// counting counts questions.
type counting struct {
	expr.Answerer
	asked atomic.Int64
}

func (c *counting) Answer(ctx context.Context, q *expr.Request) (*expr.Response, error) {
	c.asked.Add(1)
	return c.Answerer.Answer(ctx, q)
}

// TestShadowOfPlacement: another bonus in the shadow shows where replicas would
// stand, and nobody is asked more than without.
func TestShadowOfPlacement(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	c.home()
	c.storageNodes(6)
	scripted, err := builtins.Scripted(object{"extender": object{"scores": object{"n01-a": int64(9)}, "default": int64(5)}})
	if err != nil {
		t.Fatal(err)
	}
	answers := &counting{Answerer: scripted}
	c.put(shippedMap(t, eligibility))
	c.put(shippedMap(t, scheduling))
	next := shippedMap(t, scheduling, "default: 1000,", "default: 1,", "\nspec:\n", "\nspec:\n  mode: Shadow\n")
	next["metadata"].(object)["name"] = "next"
	c.put(next)
	c.volume(wanted{name: "v", topology: "Ignored", replication: "None"})
	c.merge("ReplicatedVolume", "", "v", "status", object{"status": object{"desiredAttachTo": []any{"n04"}}}) // before the start: watches of two kinds have no order
	c.fromConfigMaps(func(o *run.Options) { o.Answers = expr.Answerers{"extender": answers} })
	c.wantNote("next", map[string]string{"policies": scheduling + "@shadow="})
	c.put(replica("v", 0, "Diskful"))
	eventually(t, "the place", func() string {
		if got := c.replicas()["v"]["v-0"].node; got != "n04" {
			return fmt.Sprintf("%q", got)
		}
		return ""
	})
	// It would confirm another group, which nobody has asked about.
	c.wantNote("next", map[string]string{"shadow": `n01-a`})
	if n := answers.asked.Load(); n != 2 {
		t.Errorf("%d questions were asked, not one for the scores and one to confirm", n)
	}
}

// TestTestsBesideAPolicy: an edit whose tests fail does not take effect.
func TestTestsBesideAPolicy(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	tests := `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: marks}
spec:
  cases:
    - name: a node is marked with a letter
      objects: [{apiVersion: v1, kind: Node, metadata: {name: x}}]
      expect:
        objects: [{apiVersion: v1, kind: Node, metadata: {name: x, labels: {one: a}}}]
`
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a"), "one.test.yaml": tests}))
	c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b"), "one.test.yaml": tests}))
	c.wantNote("one", map[string]string{"status": "Refused", "error": `one.test.yaml:6:7: error: the test "a node is marked with a letter" fails`, "policies": "one="})
	c.wantMarks("a", map[string]string{"one": "a"})
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b"), "one.test.yaml": strings.Replace(tests, "one: a", "one: b", 1)}))
	c.wantMarks("a", map[string]string{"one": "b"})
	c.wantNote("one", map[string]string{"status": "Active", "error": ""})
}

// TestWatchesFollow: what only an earlier text read is no longer watched, and
// an event tells of each change that lasts until the status is written.
func TestWatchesFollow(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	reads := strings.Replace(marks("one", "one", "a"), "  rules:", "  inputs:\n    - {name: pods, apiVersion: v1, kind: Pod, where: item.spec.nodeName == key.name}\n  rules:", 1)
	reads = strings.Replace(reads, `"${params.value}"`, `"${string(size(inputs.pods))}"`, 1)
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	edict := c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	first := c.awaitRevision("one", "one", "")
	c.put(policyMap("one", map[string]string{"one.yaml": reads}))
	c.wantMarks("a", map[string]string{"one": "0"})
	c.put(object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "p", "namespace": "default"}, "spec": object{"nodeName": "a", "containers": []any{object{"name": "c", "image": "i"}}}})
	c.wantMarks("a", map[string]string{"one": "1"})
	second := c.awaitRevision("one", "one", first)
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b")}))
	c.wantMarks("a", map[string]string{"one": "b"})
	c.awaitRevision("one", "one", second)
	eventually(t, "the end of the watch", func() string {
		if !strings.Contains(edict.log.String(), `"no longer watching","kind":"Pod"`) {
			return "Pods are still watched"
		}
		return ""
	})
	c.put(policyMap("one", map[string]string{"one.yaml": reads}))
	c.wantMarks("a", map[string]string{"one": "1"})
	client, err := kubernetes.NewForConfig(c.plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "events", func() string {
		list, err := client.CoreV1().Events(home).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) < 3 {
			return fmt.Sprint(len(list.Items), err)
		}
		return ""
	})
}

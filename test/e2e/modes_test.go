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
)

// TestModes: a set in Shadow mode writes nothing, and tells what it would do otherwise than another
// set; a mode in the spec changes what becomes of a text, and not the text.
func TestModes(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("current", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.putSet("next", map[string]string{"one.yaml": marks("one", "one", "b"), "two.yaml": marks("two", "two", "b")}, object{"mode": "Shadow", "shadowOf": object{"name": "current"}})
	c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.wants("next", "Ready", "True Shadow")
	c.wants("next", "Enforcing", "False Shadow")
	eventually(t, "the comparison", func() string {
		for _, p := range c.statusOf("next").Policies {
			if p.Disagreements == nil || *p.Disagreements != 1 {
				return fmt.Sprintf("%+v", p)
			}
		}
		return ""
	})

	c.patchSet("current", object{"mode": "Disabled"})
	c.wants("current", "Ready", "True Disabled")
	c.patchSet("next", object{"mode": "Enforce", "shadowOf": nil, "modes": object{"two": "Shadow"}})
	c.wantMarks("a", map[string]string{"one": "b"})
	c.wants("next", "Ready", "True Enforcing")
	c.patchSet("next", object{"suspend": true})
	c.wants("next", "Ready", "True Suspended")
	c.wants("next", "Enforcing", "False Suspended")
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil}}})
	<-time.After(time.Second)
	c.wantMarks("a", nil)
	c.patchSet("next", object{"suspend": false})
	c.wantMarks("a", map[string]string{"one": "b"})
}

// TestAllowanceTakenAway: a policy that runs writes nothing more without its allowance, and goes on when it
// has it again.
func TestAllowanceTakenAway(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.wants("one", "Ready", "True Enforcing")
	c.patchSet("one", object{"allow": nil})
	c.wants("one", "Accepted", "False NotAllowed")
	c.wants("one", "Ready", "False NothingEnforced")
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil}}})
	<-time.After(time.Second)
	c.wantMarks("a", nil)
	c.patchSet("one", object{"allow": marking()})
	c.wantMarks("a", map[string]string{"one": "a"})
	c.wants("one", "Ready", "True Enforcing")
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
	allowed := c.shippedAllowances()
	c.putSet(eligibility, c.shippedText(eligibility), allowed)
	c.putSet(scheduling, c.shippedText(scheduling), allowed)
	c.putSet("next", c.shippedText(scheduling, "default: 1000,", "default: 1,"), allowed, object{"mode": "Shadow", "shadowOf": object{"name": scheduling}})
	c.volume(wanted{name: "v", topology: "Ignored", replication: "None"})
	c.merge("ReplicatedVolume", "", "v", "status", object{"status": object{"desiredAttachTo": []any{"n04"}}}) // before the start: watches of two kinds have no order
	c.fromSets(func(o *run.Options) { o.Answers = expr.Answerers{"extender": answers} })
	c.wants("next", "Ready", "True Shadow")
	c.put(replica("v", 0, "Diskful"))
	eventually(t, "the place", func() string {
		if got := c.replicas()["v"]["v-0"].node; got != "n04" {
			return fmt.Sprintf("%q", got)
		}
		return ""
	})
	// It would confirm another group, which nobody has asked about.
	eventually(t, "the comparison", func() string {
		if p := c.statusOf("next").Policies; len(p) != 1 || p[0].Disagreements == nil || *p[0].Disagreements == 0 {
			return fmt.Sprintf("%+v", p)
		}
		return ""
	})
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
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a"), "one_test.yaml": tests})
	c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "b"), "one_test.yaml": tests})
	c.wants("one", "Ready", "False", `one_test.yaml:6:7: error: the test "a node is marked with a letter" fails`)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "b"), "one_test.yaml": strings.Replace(tests, "one: a", "one: b", 1)})
	c.wantMarks("a", map[string]string{"one": "b"})
	c.wants("one", "Ready", "True Enforcing")
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
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	edict := c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	first := c.awaitRevision("one", "one", "")
	c.putSet("one", map[string]string{"one.yaml": reads})
	c.wantMarks("a", map[string]string{"one": "0"})
	c.put(object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "p", "namespace": "default"}, "spec": object{"nodeName": "a", "containers": []any{object{"name": "c", "image": "i"}}}})
	c.wantMarks("a", map[string]string{"one": "1"})
	second := c.awaitRevision("one", "one", first)
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "b")})
	c.wantMarks("a", map[string]string{"one": "b"})
	c.awaitRevision("one", "one", second)
	eventually(t, "the end of the watch", func() string {
		if !strings.Contains(edict.log.String(), `"no longer watching","kind":"Pod"`) {
			return "Pods are still watched"
		}
		return ""
	})
	c.putSet("one", map[string]string{"one.yaml": reads})
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

package e2e

import (
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1alpha1set "github.com/edict-dev/edict/api/v1alpha1"

	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// shippedText is the ConfigMap of a shipped policy.
func (c *cluster) shippedText(name string, replace ...string) map[string]string {
	t := c.t
	t.Helper()
	data := map[string]string{}
	for _, ext := range []string{".yaml", ".rego"} {
		text, err := os.ReadFile(filepath.Join(policies, name+ext))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		data[name+ext] = strings.NewReplacer(replace...).Replace(string(text))
	}
	return data
}

// statusOf returns the status of a set.
func (c *cluster) statusOf(name string) (out v1alpha1set.PolicySetStatus) {
	c.t.Helper()
	if o := c.get("PolicySet", home, name); o != nil {
		var s v1alpha1set.PolicySet
		if err := kruntime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &s); err != nil {
			c.t.Fatal(err)
		}
		out = s.Status
	}
	return out
}

// revisionOf returns the revision of the text that a policy is active with.
func (c *cluster) revisionOf(set, policy string) string {
	c.t.Helper()
	for _, p := range c.statusOf(set).Policies {
		if p.Name == policy {
			return p.LastGood
		}
	}
	return ""
}

// awaitRevision waits until a policy is active with another text.
func (c *cluster) awaitRevision(set, policy, before string) string {
	c.t.Helper()
	now := ""
	eventually(c.t, "another text of "+policy, func() string {
		if now = c.revisionOf(set, policy); now == before || now == "" {
			return "still " + before
		}
		return ""
	})
	return now
}

// shippedAllowances are those of the shipped policies, as fields of a set.
func (c *cluster) shippedAllowances() object {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(policies, "allowances.yaml"))
	if err != nil {
		c.t.Fatal(err)
	}
	var all struct{ Spec struct{ Allow []any } }
	if err := yaml.Unmarshal(text, &all); err != nil {
		c.t.Fatal(err)
	}
	return object{"allow": append(all.Spec.Allow, marking()...)}
}

// TestTunedBonus edits a bonus, in the policy and in the params of a set: the
// next placement follows.
func TestTunedBonus(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	c.home()
	c.storageNodes(6)
	answers, err := builtins.Scripted(object{"extender": object{"scores": object{"n01-a": int64(9)}, "default": int64(5)}})
	if err != nil {
		t.Fatal(err)
	}
	allowed := c.shippedAllowances()
	c.putSet(eligibility, c.shippedText(eligibility), allowed)
	c.putSet(scheduling, c.shippedText(scheduling), allowed)
	edict := c.fromSets(func(o *run.Options) { o.Answers = answers })
	edict.running(eligibility, scheduling)
	place := func(name, want string) {
		t.Helper()
		since := time.Now()
		// In one write: the watches of volumes and replicas are not in step.
		c.volume(wanted{name: name, topology: "Ignored", replication: "None", attachTo: []any{"n04"}})
		c.put(replica(name, 0, "Diskful"))
		eventually(t, "the place of "+name, func() string {
			if got := c.replicas()[name][name+"-0"].node; got != want {
				return fmt.Sprintf("want %s, got %q", want, got)
			}
			return ""
		})
		t.Logf("%s placed after %v", name, time.Since(since))
	}
	place("first", "n04") // 1000 points for where it is to be attached
	before, since := c.awaitRevision(scheduling, scheduling, ""), time.Now()
	c.put(textOf(scheduling, c.shippedText(scheduling, "default: 1000,", "default: 1,")))
	c.awaitRevision(scheduling, scheduling, before)
	t.Logf("the edited policy ran after %v", time.Since(since))
	place("second", "n01")
	since = time.Now()
	c.patchSet(scheduling, object{"params": object{scheduling: object{"attachToBonus": int64(500)}}})
	c.wants(scheduling, "Ready", "True Enforcing")
	t.Logf("the edited param was in force after %v", time.Since(since))
	place("third", "n04")
	c.patchSet(scheduling, object{"params": object{scheduling: object{"attachToBonus": int64(5000000)}}})
	c.wants(scheduling, "Ready", "False LastGoodEnforced", "spec.params.replica-scheduling.attachToBonus")
	c.wants(scheduling, "Accepted", "False InvalidParams")
	place("fourth", "n04")
}

// pair is a policy that writes one value in two ways.
func pair(value int) string {
	return fmt.Sprintf(`apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: pair}
spec:
  for: {apiVersion: v1, kind: Node}
  params: {value: "%[1]d"}
  limits: {changes: {perWindow: 10000}} # each edit changes every node
  variables:
    - {name: other, expression: '"%[1]d"'}
  rules:
    - name: first
      do: [{labels: {set: {first: "${params.value}"}}}]
    - name: second
      do: [{labels: {set: {second: "${variables.other}"}}}]
`, value)
}

// torn watches nodes and tells of one that carries half an edit.
func (c *cluster) torn() (stop func() []string) {
	c.t.Helper()
	w, err := c.of("Node", "").Watch(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var found []string
	var wg sync.WaitGroup
	wg.Go(func() {
		for event := range w.ResultChan() {
			if m, ok := event.Object.(metav1.Object); ok && m.GetLabels()["first"] != m.GetLabels()["second"] {
				found = append(found, fmt.Sprint(m.GetName(), m.GetLabels()))
			}
		}
	})
	return func() []string { w.Stop(); wg.Wait(); return found }
}

// weigh returns the goroutines and the bytes in use.
func weigh() (goroutines int, bytes uint64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// TestManyEdits edits a policy again and again (with EDICT_TEST_FAULT, 200 times
// in a minute), now and then with a mistake: what was edited last wins, no node
// shows half an edit, and nothing is left behind.
func TestManyEdits(t *testing.T) {
	controlplane.RequireLong(t)
	edits, pause := 40, time.Duration(0)
	if os.Getenv("EDICT_TEST_FAULT") != "" {
		edits, pause = 200, 300*time.Millisecond
	}
	c := start(t, false)
	c.home()
	for i := range 20 {
		c.put(node(fmt.Sprintf("n%d", i), "z", true, time.Now()))
	}
	c.putSet("pair", map[string]string{"pair.yaml": pair(0)})
	edict := c.fromSets(nil)
	settled := func(value int) {
		t.Helper()
		for i := range 20 {
			text := fmt.Sprint(value)
			c.wantMarks(fmt.Sprintf("n%d", i), map[string]string{"first": text, "second": text})
		}
	}
	settled(0)
	stop := c.torn()
	begin, goroutines, bytes := time.Now(), 0, uint64(0)
	for i := 1; i <= edits; i++ {
		text := pair(i)
		if i%10 == 5 {
			text = strings.Replace(text, "variables.other", "variables.othre", 1)
		}
		c.putSet("pair", map[string]string{"pair.yaml": text})
		time.Sleep(time.Until(begin.Add(time.Duration(i) * pause)))
		if i == edits/4 {
			goroutines, bytes = weigh()
		}
	}
	settled(edits)
	if found := stop(); len(found) > 0 {
		t.Errorf("nodes with half an edit: %v", found)
	}
	c.wants("pair", "Ready", "True Enforcing")
	after, heap := weigh()
	t.Logf("%d edits in %v; goroutines %d, then %d; bytes in use %d, then %d", edits, time.Since(begin).Round(time.Millisecond), goroutines, after, bytes, heap)
	if after > goroutines+10 {
		t.Errorf("goroutines: %d after %d edits, %d after all", goroutines, edits/4, after)
	}
	if heap > bytes+8<<20 {
		t.Errorf("bytes in use: %d after %d edits, %d after all", bytes, edits/4, heap)
	}
	if n := edict.series("edict_evaluations_total", "pair"); n > 3 {
		t.Errorf("%d series of one policy remain", n)
	}
	revisions, err := c.client.Resource(controllerRevisions).Namespace(home).List(t.Context(), metav1.ListOptions{LabelSelector: history.Label})
	if err != nil || len(revisions.Items) < 2 || len(revisions.Items) > 10 {
		t.Errorf("%d revisions are kept (%v)", len(revisions.Items), err)
	}
}

package e2e

import (
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
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// shippedMap is the ConfigMap of a shipped policy, as the chart makes it.
func shippedMap(t *testing.T, name string, replace ...string) object {
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
	return policyMap("edict-"+name, data)
}

// revisionOf returns the revision of a policy that runs, as its ConfigMap says.
func (c *cluster) revisionOf(configMap, policy string) string {
	c.t.Helper()
	m := c.get("ConfigMap", home, configMap)
	if m == nil {
		return ""
	}
	for one := range strings.FieldsSeq(m.GetAnnotations()["edict.dev/policies"]) {
		if name, revision, _ := strings.Cut(one, "="); name == policy {
			return revision
		}
	}
	return ""
}

// awaitRevision waits until another revision of a policy runs.
func (c *cluster) awaitRevision(configMap, policy, before string) string {
	c.t.Helper()
	now := ""
	eventually(c.t, "another revision of "+policy, func() string {
		if now = c.revisionOf(configMap, policy); now == before || now == "" {
			return "still " + before
		}
		return ""
	})
	return now
}

// TestTunedBonus edits a bonus, in the policy and in a ConfigMap of params: the
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
	c.put(shippedMap(t, eligibility))
	c.put(shippedMap(t, scheduling))
	edict := c.fromConfigMaps(func(o *run.Options) { o.Answers = answers })
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
	configMap := "edict-" + scheduling
	before, since := c.awaitRevision(configMap, scheduling, ""), time.Now()
	c.put(shippedMap(t, scheduling, "default: 1000,", "default: 1,"))
	before = c.awaitRevision(configMap, scheduling, before)
	t.Logf("the edited policy ran after %v", time.Since(since))
	place("second", "n01")
	since = time.Now()
	c.put(paramsMap("edict-params", map[string]string{scheduling: "attachToBonus: 500\n"}))
	before = c.awaitRevision(configMap, scheduling, before)
	t.Logf("the edited param was in force after %v", time.Since(since))
	place("third", "n04")
	c.put(paramsMap("edict-params", map[string]string{scheduling: "attachToBonus: 5000000\n"}))
	c.wantNote("edict-params", map[string]string{"status": "Refused", "error": "replica-scheduling:1:16: error: "})
	place("fourth", "n04")
	if now := c.revisionOf(configMap, scheduling); now != before {
		t.Errorf("a value out of bounds has led to the revision %s", now)
	}
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
	c.put(policyMap("pair", map[string]string{"pair.yaml": pair(0)}))
	edict := c.fromConfigMaps(nil)
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
		c.put(policyMap("pair", map[string]string{"pair.yaml": text}))
		time.Sleep(time.Until(begin.Add(time.Duration(i) * pause)))
		if i == edits/4 {
			goroutines, bytes = weigh()
		}
	}
	settled(edits)
	if found := stop(); len(found) > 0 {
		t.Errorf("nodes with half an edit: %v", found)
	}
	c.wantNote("pair", map[string]string{"status": "Active", "error": ""})
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
	revisions, err := c.client.Resource(controllerRevisions).Namespace(home).List(t.Context(), metav1.ListOptions{LabelSelector: v1alpha1.LabelRevision})
	if err != nil || len(revisions.Items) < 2 || len(revisions.Items) > 10 {
		t.Errorf("%d revisions are kept (%v)", len(revisions.Items), err)
	}
}

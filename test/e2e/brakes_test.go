package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/brake"
)

// rule is a policy about Nodes with one rule.
func rule(name, do string) string {
	return fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: %s}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [%s]}]\n", name, do)
}

func counter(name string) string {
	return rule(name, `{annotations: {set: {n: '${string(int(object.metadata.?annotations[?"n"].orValue("0")) + 1)}'}}}`)
}

// wantEvent waits for an Event about a ConfigMap.
func (c *cluster) wantEvent(reason string) {
	c.t.Helper()
	eventually(c.t, "the Event "+reason, func() string {
		if c.eventsOf(reason) == 0 {
			return "there is none"
		}
		return ""
	})
}

// TestBrakesOfFights: two policies that write one label are paused after a few
// writes, also for the next process, and go on when they are resumed or edited.
func TestBrakesOfFights(t *testing.T) {
	c := start(t, false)
	c.braked = true
	c.home()
	binary := edictBinary(t)
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("fight", map[string]string{"a.yaml": rule("fight-a", "{labels: {set: {owner: a}}}"), "b.yaml": rule("fight-b", "{labels: {set: {owner: b}}}")}))
	edict := c.fromConfigMaps(nil)
	c.wantNote("fight", map[string]string{"status": "Paused", "error": `metadata.labels.owner of Node a in turn`})
	c.wantNote("fight", map[string]string{"error": "edict resume fight-a --policy-namespace " + home + " lets it go on"})
	c.wantEvent("PolicyPaused")
	written := edict.written("fight-a") + edict.written("fight-b")
	if written > 30 {
		t.Errorf("%v writes until they were paused", written)
	}
	if n := edict.metric("edict_policy_paused", "fight-a"); n != 1 {
		t.Errorf("the metric is %v", n)
	}

	edict.stop()
	edict = c.fromConfigMaps(nil)
	edict.running("fight-a", "fight-b")
	c.wantNote("fight", map[string]string{"status": "Paused"})
	c.merge("Node", "", "a", "", labelsOf(object{"owner": "somebody"}))
	time.Sleep(2 * time.Second)
	if n := edict.written("fight-a") + edict.written("fight-b") - written; n > 0 { // the metrics are those of both
		t.Errorf("%v writes by the next process", n)
	}

	c.put(policyMap("fight", map[string]string{"a.yaml": rule("fight-a", "{labels: {set: {owner: a}}}"), "b.yaml": rule("fight-b", "{labels: {set: {other: b}}}")}))
	c.wantMarks("a", map[string]string{"owner": "somebody", "other": "b"})
	if out, code := c.edict(binary, "resume", "fight-a"); code != 0 {
		t.Fatal(out)
	}
	c.wantMarks("a", map[string]string{"owner": "a", "other": "b"})
	c.wantNote("fight", map[string]string{"status": "Active", "error": ""})
	c.wantEvent("PolicyResumed")
	if out, code := c.edict(binary, "resume", "fight-a"); code != 1 || !strings.Contains(out, "it is not paused") {
		t.Errorf("resumed again: %d %s", code, out)
	}
}

// TestBrakesOfWhatFeedsItself: a policy that is woken by its own writes is slowed
// down, one that asks for the time all the time is evaluated once a second, and
// both are reported.
func TestBrakesOfWhatFeedsItself(t *testing.T) {
	c := start(t, false)
	c.braked = true
	c.home()
	for i := range 3 {
		c.put(node(fmt.Sprintf("n%d", i), "z", true, time.Now()))
	}
	for name, text := range map[string]string{
		"counter": counter("counter"),
		"nower":   rule("nower", "{annotations: {set: {now: '${now}'}}}"),
		"timed":   rule("timed", `{remember: {name: x, value: '${elapsed(now, duration("1ms"))}'}}`),
	} {
		c.put(policyMap(name, map[string]string{"a.yaml": text}))
	}
	edict := c.fromConfigMaps(nil)
	for name, want := range map[string]string{
		"counter": "metadata.annotations.n of Node n", "nower": "metadata.annotations.now of Node n", "timed": "once a second",
	} {
		c.wantNote(name, map[string]string{"status": "Degraded", "error": want})
	}
	c.wantEvent("PolicySlowedDown")
	eventually(t, "all nodes", func() string {
		if n := edict.metric("edict_policy_slowed_objects", "counter") + edict.metric("edict_policy_slowed_objects", "nower"); n < 6 {
			return fmt.Sprintf("slowed down for %v", n)
		}
		return ""
	})
	count := func() (out []float64) {
		return []float64{edict.written("counter"), edict.written("nower"), edict.metric("edict_evaluations_total", "timed")}
	}
	before := count()
	time.Sleep(10 * time.Second)
	for i, most := range []float64{30, 30, 60} {
		if got := count()[i] - before[i]; got > most {
			t.Errorf("%d: %v in ten seconds, want %v at most", i, got, most)
		}
	}
}

// TestBrakesOfRemovals: an edit that removes from all objects is paused, and
// rolled back.
func TestBrakesOfRemovals(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.braked = true
	c.home()
	binary := edictBinary(t)
	const nodes = 40
	for i := range nodes {
		c.put(node(fmt.Sprintf("n%02d", i), "z", true, time.Now()))
	}
	c.put(policyMap("one", map[string]string{"one.yaml": rule("one", "{labels: {set: {one: a}}}")}))
	edict := c.fromConfigMaps(nil)
	labelled := func() (n int) {
		list, err := c.of("Node", "").List(t.Context(), metav1.ListOptions{LabelSelector: "one=a"})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	want := func(what string, n int) {
		t.Helper()
		eventually(t, what, func() string {
			if got := labelled(); got != n {
				return fmt.Sprintf("%d nodes have the label, want %d", got, n)
			}
			return ""
		})
	}
	want("at first", nodes)
	c.wantNote("one", map[string]string{"status": "Active"})
	c.put(policyMap("one", map[string]string{"one.yaml": rule("one", "{labels: {set: {one: null}}}")}))
	c.wantNote("one", map[string]string{"status": "Paused", "error": "more than 10 removals within 1m0s, which is its limit, 25% of objects; the first that was kept back is patch Node n"})
	want("while it is paused", nodes-10)
	edict.stop()
	edict = c.fromConfigMaps(nil)
	edict.running("one")
	eventually(t, "what is kept back", func() string {
		out, code := c.edict(binary, "hold", "list")
		if code != 0 || !strings.Contains(out, "Pause") || !strings.Contains(out, "metadata.labels.one removed") || !strings.Contains(out, " 30 ") {
			return out
		}
		return ""
	})
	want("in the next process", nodes-10)
	c.steps("steps: [{percent: 5}]\ninterval: 10m\n") // they must not hold up what ends the pause
	if out, code := c.edict(binary, "rollback", "--policy-namespace", home, "one"); code != 0 {
		t.Fatal(out)
	}
	want("after the rollback", nodes)
	c.wantNote("one", map[string]string{"status": "Active", "error": ""})
}

// TestHolds: what a person holds is decided and shown, and written when the time
// is over or it is released.
func TestHolds(t *testing.T) {
	c := start(t, false)
	c.braked = true
	c.home()
	binary := edictBinary(t)
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "x")}))
	edict := c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "x"})
	c.wantNote("one", map[string]string{"status": "Active"})

	for _, args := range [][]string{
		{"--policy", "none", "--reason", "r", "--for", "1h"}, {"--policy", "one", "--rule", "none", "--reason", "r", "--for", "1h"},
		{"--policy", "one", "--key", home + "/b", "--reason", "r", "--for", "1h"},
	} {
		if out, code := c.edict(binary, append([]string{"hold"}, args...)...); code != 1 {
			t.Errorf("%v: %d %s", args, code, out)
		}
	}
	if out, code := c.edict(binary, "hold", "--policy", "one", "--rule", "mark", "--key", "b", "--reason", "maintenance", "--for", "1h"); code != 0 || !strings.Contains(out, "there is no Node b now") {
		t.Fatal(out)
	}
	c.wantNote("one", map[string]string{"status": "Active", "warning": `the rule "mark" of the policy one for b is held until`})
	c.wantEvent("PolicyHeld")
	c.put(node("b", "z", true, time.Now()))
	c.put(node("d", "z", true, time.Now()))
	c.wantMarks("d", map[string]string{"one": "x"})
	var rows []struct {
		Kind, Name, Policy, Rule, Key, Reason, By string
		Objects                                   int
		Kept                                      []brake.KeptRecord
	}
	eventually(t, "what is held", func() string {
		out, code := c.edict(binary, "hold", "list", "-o", "json")
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil || len(rows) != 1 || rows[0].Objects != 1 {
			return out
		}
		return ""
	})
	if r := rows[0]; r.Kind != "Hold" || r.Reason != "maintenance" || r.By == "" || len(r.Kept) != 1 || !slices.Equal(r.Kept[0].Writes, []string{"patch Node b: metadata.labels.one set"}) {
		t.Errorf("listed as %+v", r)
	}
	if n := edict.metric("edict_policy_holds", "one"); n != 1 {
		t.Errorf("the metric is %v", n)
	}
	c.wantMarks("b", nil)
	if out, code := c.edict(binary, "hold", "release", rows[0].Name); code != 0 {
		t.Fatal(out)
	}
	c.wantMarks("b", map[string]string{"one": "x"})
	c.wantEvent("PolicyHoldEnded")

	if out, code := c.edict(binary, "hold", "--policy", "one", "--reason", "maintenance", "--for", "5s"); code != 0 {
		t.Fatal(out)
	}
	c.wantNote("one", map[string]string{"warning": "the policy one is held"})
	c.put(node("e", "z", true, time.Now()))
	c.wantMarks("e", map[string]string{"one": "x"})
	c.wantNote("one", map[string]string{"warning": ""})
}

// TestContested: a field that somebody else keeps writing is written once in ten
// seconds, and the ConfigMap says so.
func TestContested(t *testing.T) {
	c := start(t, false)
	c.braked = true
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "x")}))
	edict := c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "x"})
	before := edict.written("one")
	for range 50 {
		c.merge("Node", "", "a", "", labelsOf(object{"one": "y"}))
		time.Sleep(200 * time.Millisecond)
	}
	if n := edict.written("one") - before; n < 5 || n > 7 {
		t.Errorf("%v writes in ten seconds, want five, and one or two more", n)
	}
	c.wantNote("one", map[string]string{"status": "Contested", "error": "metadata.labels.one of Node a"})
	c.wantEvent("PolicyContested")
	if n := edict.metric("edict_policy_contested_fields", "one"); n != 1 {
		t.Errorf("the metric is %v", n)
	}
	c.wantMarks("a", map[string]string{"one": "x"})
}

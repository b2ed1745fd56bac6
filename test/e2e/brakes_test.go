package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
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

// TestPace: what never comes to rest writes 30 times and then once a second, whatever the
// cause: its own writes, those of another policy, the time, or another writer. The last
// word is the policy's.
func TestPace(t *testing.T) {
	c := start(t, false)
	c.home()
	for _, name := range []string{"a", "written"} {
		c.put(node(name, "z", true, time.Now()))
	}
	policies := map[string]string{
		"counter": counter("counter"),
		"nower":   rule("nower", "{annotations: {set: {now: '${now}'}}}"),
		"timed":   rule("timed", `{remember: {name: x, value: '${elapsed(now, duration("1ms"))}'}}`),
		"fight-a": rule("fight-a", "{labels: {set: {owner: a}}}"),
		"fight-b": rule("fight-b", "{labels: {set: {owner: b}}}"),
		"one":     marks("one", "one", "x"),
	}
	for name, text := range policies {
		c.putSet(name, map[string]string{"a.yaml": text})
	}
	edict := c.fromSets(nil)
	edict.running("counter", "nower", "timed", "fight-a", "fight-b", "one")
	labelled := func() string { // the others write a label, too
		found, err := c.of("Node", "").Get(t.Context(), "written", metav1.GetOptions{})
		if err != nil || found.GetLabels()["one"] != "x" {
			return fmt.Sprint(found.GetLabels(), err)
		}
		return ""
	}
	eventually(t, "the label in the beginning", labelled)
	began := time.Now()
	for time.Since(began) < 20*time.Second {
		c.merge("Node", "", "written", "", labelsOf(object{"one": "y"}))
		time.Sleep(100 * time.Millisecond)
	}
	count := func(policy string) float64 {
		if policy == "timed" {
			return edict.metric("edict_evaluations_total", policy)
		}
		return edict.written(policy)
	}
	eventually(t, "the label in the end", labelled)
	before, at := map[string]float64{}, time.Now()
	for name := range policies {
		before[name] = count(name)
	}
	time.Sleep(10 * time.Second)
	for name := range policies {
		// Of two nodes. Conflicts with the other writer may have left some of the 30 writes at
		// once of the node written.
		most := 2*(time.Since(at).Seconds()+2) + 30
		if got := count(name) - before[name]; got > most {
			t.Errorf("%s: %v in ten seconds, want %v at most", name, got, most)
		}
	}
	for name := range policies {
		c.wants(name, "Ready", "True Enforcing")
	}
}

// TestBrakesOfRemovals: an edit that removes from all objects is paused, and
// rolled back.
func TestBrakesOfRemovals(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.braked = true
	c.home()
	binary := program.Build(t)
	const nodes = 40
	for i := range nodes {
		c.put(node(fmt.Sprintf("n%02d", i), "z", true, time.Now()))
	}
	c.putSet("one", map[string]string{"one.yaml": rule("one", "{labels: {set: {one: a}}}")})
	edict := c.fromSets(nil)
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
	c.wants("one", "Ready", "True Enforcing")
	c.put(textOf("one", map[string]string{"one.yaml": rule("one", "{labels: {set: {one: null}}}")}))
	c.wants("one", "Ready", "False Paused", "more than 10 removals within 1m0s, which is its limit, 25% of objects; the first that was kept back is patch Node n")
	want("while it is paused", nodes-10)
	edict.stop()
	edict = c.fromSets(nil)
	edict.running("one")
	eventually(t, "what is kept back", func() string {
		out, code := c.edict(binary, "hold", "list")
		if code != 0 || !strings.Contains(out, "Pause") || !strings.Contains(out, " 30 ") {
			return out
		}
		return ""
	})
	want("in the next process", nodes-10)
	c.patchSet("one", object{"rollout": object{"steps": []any{object{"percent": int64(5)}}, "interval": "10m"}}) // they must not hold up what ends the pause
	if out, code := c.edict(binary, "rollback", "-n", home, "one"); code != 0 {
		t.Fatal(out)
	}
	want("after the rollback", nodes)
	c.wants("one", "Ready", "True Enforcing")
}

// TestHolds: what a person holds is decided and shown, and written when the time
// is over or it is released.
func TestHolds(t *testing.T) {
	c := start(t, false)
	c.braked = true
	c.home()
	binary := program.Build(t)
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "x")})
	edict := c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "x"})
	c.wants("one", "Ready", "True Enforcing")

	for _, args := range [][]string{
		{"none", "--reason", "r", "--for", "1h"}, {"one/none", "--reason", "r", "--for", "1h"}, {"one/one", "--rule", "none", "--reason", "r", "--for", "1h"},
		{"one", "--key", home + "/b", "--reason", "r", "--for", "1h"},
	} {
		if out, code := c.edict(binary, append([]string{"hold"}, args...)...); code != 1 {
			t.Errorf("%v: %d %s", args, code, out)
		}
	}
	if out, code := c.edict(binary, "hold", "one/one", "--rule", "mark", "--key", "b", "--reason", "maintenance", "--for", "1h"); code != 0 || !strings.Contains(out, "there is no Node b now") {
		t.Fatal(out)
	}
	c.wants("one", "Ready", "True Enforcing")
	c.wantEvent("PolicyHeld")
	c.put(node("b", "z", true, time.Now()))
	c.put(node("d", "z", true, time.Now()))
	c.wantMarks("d", map[string]string{"one": "x"})
	var rows []struct {
		Kind, Name, Policy, Rule, Key, Reason, By string
		Objects                                   int
	}
	eventually(t, "what is held", func() string {
		out, code := c.edict(binary, "hold", "list", "-o", "json")
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil || len(rows) != 1 || rows[0].Objects != 1 {
			return out
		}
		return ""
	})
	if r := rows[0]; r.Kind != "Hold" || r.Reason != "maintenance" || r.By == "" || r.Rule != "mark" || r.Key != "b" {
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

	if out, code := c.edict(binary, "hold", "one", "--reason", "maintenance", "--for", "8s"); code != 0 {
		t.Fatal(out)
	}
	c.wants("one", "Held", "True", "the policy one/one is held")
	c.wants("one", "Enforcing", "False Held")
	c.put(node("e", "z", true, time.Now()))
	c.wantMarks("e", map[string]string{"one": "x"})
	c.wants("one", "Enforcing", "True Enforcing")
}

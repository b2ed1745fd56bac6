package e2e

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

// unknownKind is an edit of marks that waits for a kind that nobody serves.
func unknownKind(name, label, value string) string {
	return strings.Replace(marks(name, label, value), "kind: Node}", "kind: Node}\n  inputs: [{name: lost, apiVersion: example.com/v1, kind: Lost}]", 1)
}

// exhausting is an edit of marks that costs more than it may on every node.
func exhausting(name, label, value string) string {
	return strings.Replace(marks(name, label, value), "    - name: mark\n",
		"    - name: mark\n      when: lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))\n", 1)
}

// TestTheLastGoodRevisionSurvives: an edit that waits or is refused does not
// take the place of what ran, not through a restart of the controller either.
func TestTheLastGoodRevisionSurvives(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	c.put(policyMap("two", map[string]string{"two.yaml": marks("two", "two", "a")}))
	edict := c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "a", "two": "a"})
	c.wantNote("one", map[string]string{"status": "Active"})
	c.wantNote("two", map[string]string{"status": "Active"})

	c.put(policyMap("one", map[string]string{"one.yaml": unknownKind("one", "one", "b")}))
	c.put(policyMap("two", map[string]string{"two.yaml": exhausting("two", "two", "b")}))
	c.wantNote("one", map[string]string{"status": "Waiting", "policies": "one=", "error": "the cluster does not serve"})
	c.wantNote("two", map[string]string{"status": "Refused", "policies": "two=", "error": "costs too much"})
	for range 2 {
		edict.stop()
		c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "two": nil}}})
		edict = c.fromConfigMaps(nil)
		c.wantMarks("a", map[string]string{"one": "a", "two": "a"})
		c.wantNote("one", map[string]string{"status": "Waiting", "policies": "one=", "error": "the cluster does not serve"})
		c.wantNote("two", map[string]string{"status": "Refused", "policies": "two=", "error": "costs too much"})
	}
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "c")}))
	c.put(policyMap("two", map[string]string{"two.yaml": marks("two", "two", "c")}))
	c.wantMarks("a", map[string]string{"one": "c", "two": "c"})
	c.wantNote("one", map[string]string{"status": "Active", "error": ""})
}

// TestHistoryAndRollback: who wrote which revision and what became of it is
// listed, and an earlier one is written back.
func TestHistoryAndRollback(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	binary := program.Build(t)
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a") + "---\n" + marks("other", "other", "a")}))
	c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "a", "other": "a"})
	c.wantNote("one", map[string]string{"status": "Active"})
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b") + "---\n" + marks("other", "other", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "other": "b"})
	c.put(policyMap("one", map[string]string{"one.yaml": unknownKind("one", "one", "c") + "---\n" + marks("other", "other", "b")}))
	c.wantNote("one", map[string]string{"status": "Waiting"})

	history := func(want ...string) {
		t.Helper()
		eventually(t, "the history", func() string {
			out, code := c.edict(binary, "history", "--policy-namespace", home, "one")
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if code != 0 || len(lines) != len(want)+1 {
				return out
			}
			for i, line := range lines[1:] {
				fields := strings.Fields(line)
				inForce := ""
				if fields[4] == "yes" {
					inForce = " yes"
				}
				if got := fields[1] + " " + fields[3] + inForce; got != want[i] || !strings.HasSuffix(line, "one/one.yaml") {
					return "want " + want[i] + ":\n" + out
				}
			}
			return ""
		})
	}
	history("3 Waiting", "2 Active yes", "1 Active")
	if out, code := c.edict(binary, "wait", "other", "--policy-namespace", home, "--for", "waiting", "--timeout", "20s"); code != 0 || !strings.Contains(out, "other: waiting") {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := c.edict(binary, "wait", "--policy-namespace", home, "--timeout", "1s"); code != 1 || !strings.Contains(out, "ConfigMap "+home+"/one: its status is Waiting") {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := c.edict(binary, "wait", "nobody", "--policy-namespace", home, "--timeout", "1s"); code != 1 || !strings.Contains(out, "has a policy nobody") {
		t.Errorf("%d: %s", code, out)
	}
	out, code := c.edict(binary, "rollback", "--policy-namespace", home, "one")
	if code != 0 || !strings.Contains(out, "one: the revision 2 (") || !strings.Contains(out, "one.yaml: written") {
		t.Fatalf("%d: %s", code, out)
	}
	history("4 Active yes", "3 Waiting", "2 Active", "1 Active")
	out, code = c.edict(binary, "rollback", "--policy-namespace", home, "one", "1")
	if code != 0 || !strings.Contains(out, "one: the revision 1 (") {
		t.Fatalf("%d: %s", code, out)
	}
	c.wantMarks("a", map[string]string{"one": "a", "other": "b"})
	history("5 Active yes", "4 RolledBack", "3 Waiting", "2 Active", "1 Active")
	if out, code = c.edict(binary, "rollback", "--policy-namespace", home, "one", "1"); code != 1 || !strings.Contains(out, "nothing to write") {
		t.Errorf("%d: %s", code, out)
	}
	if out, code = c.edict(binary, "history", "--policy-namespace", home, "-o", "json", "one"); code != 0 || !strings.Contains(out, `"author": "edict-rollback"`) {
		t.Errorf("%d: %s", code, out)
	}

	c.delete("ConfigMap", home, "one")
	eventually(t, "the end of the history", func() string {
		list, err := c.client.Resource(controllerRevisions).Namespace(home).List(t.Context(), metav1.ListOptions{LabelSelector: "edict.dev/result=Stopped"})
		if err != nil || len(list.Items) != 2 {
			return "the policies are not noted as gone"
		}
		return ""
	})
}

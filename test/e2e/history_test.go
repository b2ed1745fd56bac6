package e2e

import (
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"strings"
	"testing"
	"time"

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
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.putSet("two", map[string]string{"two.yaml": marks("two", "two", "a")})
	edict := c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a", "two": "a"})
	c.wants("one", "Ready", "True Enforcing")
	c.wants("two", "Ready", "True Enforcing")

	c.putSet("one", map[string]string{"one.yaml": unknownKind("one", "one", "b")})
	c.putSet("two", map[string]string{"two.yaml": exhausting("two", "two", "b")})
	c.wants("one", "Ready", "False Waiting", "the cluster does not serve")
	c.wants("two", "Ready", "False", "costs too much")
	for range 2 {
		edict.stop()
		c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "two": nil}}})
		edict = c.fromSets(nil)
		c.wantMarks("a", map[string]string{"one": "a", "two": "a"})
		c.wants("one", "Ready", "False Waiting", "the cluster does not serve")
		c.wants("two", "Ready", "False", "costs too much")
	}
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "c")})
	c.putSet("two", map[string]string{"two.yaml": marks("two", "two", "c")})
	c.wantMarks("a", map[string]string{"one": "c", "two": "c"})
	c.wants("one", "Ready", "True Enforcing")
}

// TestHistoryAndRollback: the texts that were active are listed with who wrote them, and an earlier
// one runs by its digest, also while the ConfigMap has another one.
func TestHistoryAndRollback(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	binary := program.Build(t)
	c.put(node("a", "z", true, time.Now()))
	both := func(one, other string) object {
		return textOf("one", map[string]string{"one.yaml": marks("one", "one", one) + "---\n" + marks("other", "other", other)})
	}
	c.put(both("a", "a"))
	c.put(set("one"))
	edict := c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a", "other": "a"})
	c.wants("one", "Ready", "True Enforcing")
	c.put(both("b", "b"))
	c.wantMarks("a", map[string]string{"one": "b", "other": "b"})
	c.put(textOf("one", map[string]string{"one.yaml": unknownKind("one", "one", "c") + "---\n" + marks("other", "other", "b")}))
	c.wants("one", "Ready", "False Waiting")

	history := func(want ...string) {
		t.Helper()
		eventually(t, "the history", func() string {
			out, code := c.edict(binary, "history", "-n", home, "one", "-o", "json")
			var list []struct {
				Number  int64
				Current bool
				Active  time.Time
				Author  string
			}
			if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
				return out
			}
			var got []string
			for _, one := range list {
				got = append(got, fmt.Sprint(one.Number, one.Current, !one.Active.IsZero(), one.Author != ""))
			}
			return cmp.Diff(want, got)
		})
	}
	history("3 true false true", "2 false true true", "1 false true true")
	if out, code := c.edict(binary, "rollback", "-n", home, "one"); code != 0 || !strings.Contains(out, "runs the text 2 (") {
		t.Fatalf("%d: %s", code, out)
	}
	c.wants("one", "Ready", "True Enforcing")
	c.wants("one", "Accepted", "True", "the text with spec.source.digest is from the history")
	history("3 false false true", "2 true true true", "1 false true true")
	if out, code := c.edict(binary, "rollback", "-n", home, "one", "1"); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	c.wantMarks("a", map[string]string{"one": "a", "other": "a"})
	if out, code := c.edict(binary, "rollback", "-n", home, "one", "9"); code != 1 || !strings.Contains(out, "has no text 9") {
		t.Errorf("%d: %s", code, out)
	}
	c.patchSet("one", object{"source": object{"digest": "sha256:" + strings.Repeat("0", 64)}})
	c.wants("one", "Accepted", "False DigestMismatch")
	c.wants("one", "Ready", "False LastGoodEnforced")

	c.delete("PolicySet", home, "one")
	eventually(t, "the end of the policies", func() string {
		if n := strings.Count(edict.log.String(), `"the policy no longer runs"`); n < 2 {
			return fmt.Sprintf("%d have ended", n)
		}
		return ""
	})
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil}}})
	<-time.After(time.Second)
	c.wantMarks("a", map[string]string{"other": "a"})
}

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// taking is one of several processes that take turns.
func taking(identity string) func(*run.Options) {
	return func(o *run.Options) {
		o.Election = &run.Election{Namespace: home, Name: "edict", Identity: identity, LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 200 * time.Millisecond}
	}
}

// TestAnotherTakesOver: the process that leads next goes on with what was last
// good of a ConfigMap that is broken by then, and leaves alone what is disabled.
func TestAnotherTakesOver(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.putSet("off", map[string]string{"off.yaml": marks("off", "off", "a")})
	first := c.fromSets(taking("first"))
	c.wantMarks("a", map[string]string{"one": "a", "off": "a"})
	eventually(t, "the copies", func() string {
		list, err := c.client.Resource(controllerRevisions).Namespace(home).List(t.Context(), metav1.ListOptions{LabelSelector: history.Label})
		if err != nil || len(list.Items) != 2 {
			return "they are not there yet"
		}
		return ""
	})
	second := c.fromSets(taking("second"))
	c.patchSet("off", object{"mode": "Disabled"})
	c.wants("off", "Ready", "True Disabled")
	broken := strings.Replace(marks("one", "one", "b"), "params.value", "params.valeu", 1)
	c.put(textOf("one", map[string]string{"one.yaml": broken}))
	c.merge("ConfigMap", home, "off", "", object{"data": object{"off.yaml": strings.Replace(marks("off", "off", "b"), "params.value", "params.valeu", 1)}})
	c.wants("one", "Ready", "False")
	c.wants("off", "Ready", "True Disabled") // its text is not compiled

	first.stop()
	second.running("one")
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "off": nil}}})
	c.wantMarks("a", map[string]string{"one": "a"})
	c.wants("one", "Ready", "False")
	c.wants("off", "Ready", "True Disabled") // its text is not compiled

	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "c")})
	c.wantMarks("a", map[string]string{"one": "c"})
}

// TestParamsThatCannotBeRead: a slip in the YAML of the params does not put the
// defaults in force.
func TestParamsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.merge("ConfigMap", home, "one", "", object{"data": object{"params.yaml": "one: {value: b}\n"}})
	c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "b"})
	c.merge("ConfigMap", home, "one", "", object{"data": object{"params.yaml": "one: {value: [\n"}})
	c.wants("one", "Ready", "False LastGoodEnforced", "params.yaml:")
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil}}})
	c.wantMarks("a", map[string]string{"one": "b"})
	c.merge("ConfigMap", home, "one", "", object{"data": object{"params.yaml": "one: {value: 7}\n"}})
	c.wants("one", "Ready", "False LastGoodEnforced")
	c.wants("one", "Accepted", "False InvalidParams")
	c.patchSet("one", object{"params": object{"one": object{"value": "7"}}}) // the same, but for its kind
	c.wantMarks("a", map[string]string{"one": "7"})
	c.wants("one", "Ready", "True Enforcing")
}

// TestAKindThatComesLater: a policy from a ConfigMap waits for its kinds, the
// others do not, and an edit while it waits counts.
func TestAKindThatComesLater(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	late := func(value string) string {
		return strings.Replace(marks("late", "late", value), "apiVersion: v1, kind: Node", "apiVersion: storage.deckhouse.io/v1alpha1, kind: ReplicatedStoragePool", 1)
	}
	c.putSet("late", map[string]string{"late.yaml": late("a"), "one.yaml": marks("one", "one", "a")})
	edict := c.fromSets(nil)
	c.wantMarks("a", map[string]string{"one": "a"})
	c.wants("late", "Ready", "False Waiting", "the cluster does not serve storage.deckhouse.io/v1alpha1")
	c.putSet("late", map[string]string{"late.yaml": late("b"), "one.yaml": marks("one", "one", "b")})
	c.wantMarks("a", map[string]string{"one": "b"})
	c.installCRDs()
	edict.running("late")
	c.wants("late", "Ready", "True Enforcing")
	c.put(pool("p", object{"lvmVolumeGroups": refs("x")}))
	eventually(t, "the label of the pool", func() string {
		if got := c.get("ReplicatedStoragePool", "", "p").GetLabels()["late"]; got != "b" {
			return "it is " + got
		}
		return ""
	})
}

// TestEditedWhileSomethingIsPutOff: what is put off is done once, by the
// revision that is in force when its time comes.
func TestEditedWhileSomethingIsPutOff(t *testing.T) {
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	later := func(value string) string {
		return strings.Replace(marks("one", "one", value), "    - name: mark\n", "    - name: mark\n      when: '!(\"one\" in object.?metadata.?labels.orValue({}))'\n      debounce: {key: \"${key.name}\", window: 4s}\n", 1)
	}
	c.putSet("one", map[string]string{"one.yaml": later("a")})
	edict := c.fromSets(nil)
	edict.running("one")
	before := edict.metric("edict_debounced_total", "one")
	c.put(node("a", "z", true, time.Now()))
	c.wantMarks("a", map[string]string{"one": "a"}) // the first is not put off
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil}}})
	eventually(t, "something put off", func() string {
		if edict.metric("edict_debounced_total", "one") == before {
			return "nothing is"
		}
		return ""
	})
	c.putSet("one", map[string]string{"one.yaml": later("b")})
	c.wantMarks("a", map[string]string{"one": "b"})
	eventually(t, "both writes", func() string { // they are logged a moment later
		if n := strings.Count(edict.log.String(), `"msg":"wrote"`); n != 2 {
			return fmt.Sprintf("%d writes", n)
		}
		return ""
	})
}

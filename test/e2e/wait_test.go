package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

// waiting returns a cluster with the policy one and a node, and a function that calls edict
// wait for the policy.
func waiting(t *testing.T) (c *cluster, wait func(what, status, timeout string, code int, want string)) {
	t.Helper()
	c = start(t, false)
	c.home()
	binary := program.Build(t)
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "v0")}))
	return c, func(what, status, timeout string, code int, want string) {
		t.Helper()
		out, got := c.edict(binary, "wait", "one", "--policy-namespace", home, "--for", status, "--timeout", timeout)
		if got != code || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, want %d with %q: %s", what, got, code, want, out)
		}
	}
}

// TestWaitForAnAnnotation: edict wait, called after a mode or steps are annotated, or after
// a ConfigMap of params is deleted or has lost its label, waits for what becomes of it. While
// no controller runs, it waits.
func TestWaitForAnAnnotation(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c, wait := waiting(t)
	c.put(paramsMap("values", map[string]string{"one": "value: w"}))
	values := func(label any) {
		c.merge("ConfigMap", home, "values", "", object{"metadata": object{"labels": object{"edict.dev/params": label}}})
	}
	controller := c.fromConfigMaps(nil)
	wait("the policy", "active", "60s", 0, "one: active")
	for _, edit := range []struct {
		what   string
		change func()
		status string
		code   int
		want   string
	}{
		{"disabled", func() { c.mode("Disabled") }, "disabled", 0, "one: disabled"},
		{"no mode", func() { c.mode("Off") }, "active", 1, `unknown mode "Off"`},
		{"enabled", func() { c.mode(nil) }, "active", 0, "one: active"},
		{"no label", func() { values(nil) }, "active", 0, "one: active"},
		{"the label again", func() { values("true") }, "active", 0, "one: active"},
		{"no params", func() { c.delete("ConfigMap", home, "values") }, "active", 0, "one: active"},
		{"a bad rollout", func() { c.steps("steps: [{percent: 50}]\ninterval: soon\n") }, "active", 1, "edict.dev/rollout"},
		{"a good one", func() { c.steps("steps: [{percent: 50}]\ninterval: 600s\n") }, "active", 0, "one: active"},
	} {
		controller.stop()
		edit.change()
		wait(edit.what+", with no controller", edit.status, "1ms", 1, "the controller has not read it as it is now")
		controller = c.fromConfigMaps(nil)
		wait(edit.what, edit.status, "60s", edit.code, edit.want)
	}

	c.put(object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "allowances", "namespace": home, "labels": object{"edict.dev/allowances": "true"}, "annotations": object{"edict.dev/installation": "next"}},
	})
	wait("the next installation is not there", "active", "1ms", 1, "its status is that of another installation")
	controller.stop()
	c.fromConfigMaps(func(o *run.Options) { o.Installation = "next" })
	wait("the next installation", "active", "60s", 0, "one: active")
}

func (c *cluster) mode(mode any) {
	c.t.Helper()
	c.merge("ConfigMap", home, "one", "", object{"metadata": object{"annotations": object{"edict.dev/mode": mode}}})
}

// TestWaitForAnEdit: edict wait, called at once after an edit, waits for what becomes of
// it: of other values of params, good and bad, and of a text that comes into force in steps.
func TestWaitForAnEdit(t *testing.T) {
	t.Parallel()
	c, wait := waiting(t)
	c.put(paramsMap("values", map[string]string{"one": "value: w0"}))
	c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "w0"})
	edits := budget.Of(1, 3)
	for _, value := range []string{"w1", "w2", "w3"}[:edits] {
		c.put(paramsMap("values", map[string]string{"one": "value: " + value}))
		wait("other values", "active", "60s", 0, "one: active")
		c.put(paramsMap("values", map[string]string{"one": "valeu: " + value}))
		wait("a misspelt param", "active", "60s", 1, "is refused: ")
	}
	c.put(paramsMap("values", map[string]string{"one": ""}))
	wait("no values", "active", "60s", 0, "one: active")
	c.wantMarks("a", map[string]string{"one": "v0"})

	c.steps("steps: [{percent: 50}]\ninterval: 600s\n")
	for _, value := range []string{"v1", "v2", "v3"}[:edits] {
		c.merge("ConfigMap", home, "one", "", object{"data": object{"one.yaml": marks("one", "one", value)}})
		wait("an edit in steps is not active", "active", "2s", 1, "not active after 2s")
		wait("an edit in steps", "rollingout", "60s", 0, "one: rollingout")
		c.merge("ConfigMap", home, "one", "", object{"data": object{"one.yaml": marks("one", "one", "v0")}})
		wait("the edit is taken back", "active", "60s", 0, "one: active")
	}
}

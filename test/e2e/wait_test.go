package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestWaitForAnEdit: edict wait, called at once after an edit, waits for what becomes of
// it: of other values of params, good and bad, and of a text that comes into force in steps.
func TestWaitForAnEdit(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	binary := edictBinary(t)
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "v0")}))
	c.put(paramsMap("values", map[string]string{"one": "value: w0"}))
	c.fromConfigMaps(nil)
	c.wantMarks("a", map[string]string{"one": "w0"})
	wait := func(what string, code int, want string) {
		t.Helper()
		out, got := c.edict(binary, "wait", "one", "--policy-namespace", home, "--timeout", "4s")
		if got != code || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, want %d with %q: %s", what, got, code, want, out)
		}
	}
	for _, value := range []string{"w1", "w2", "w3"} {
		c.put(paramsMap("values", map[string]string{"one": "value: " + value}))
		wait("other values", 0, "one: active")
		c.put(paramsMap("values", map[string]string{"one": "valeu: " + value}))
		wait("a misspelt param", 1, "is refused: ")
	}
	c.put(paramsMap("values", map[string]string{"one": ""}))
	wait("no values", 0, "one: active")
	c.wantMarks("a", map[string]string{"one": "v0"})

	c.steps("steps: [{percent: 50}]\ninterval: 600s\n")
	for _, value := range []string{"v1", "v2", "v3"} {
		c.merge("ConfigMap", home, "one", "", object{"data": object{"one.yaml": marks("one", "one", value)}})
		wait("an edit in steps", 1, "its status is RollingOut")
		c.merge("ConfigMap", home, "one", "", object{"data": object{"one.yaml": marks("one", "one", "v0")}})
		wait("the edit is taken back", 0, "one: active")
	}
}

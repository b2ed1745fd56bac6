package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/test/controlplane"
)

// TestStopsAreReported: a ConfigMap that is no longer read says so, and an Event
// tells which policy has stopped.
func TestStopsAreReported(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	for _, name := range []string{"one", "two"} {
		c.put(policyMap(name, map[string]string{"p.yaml": marks(name, name, "a")}))
	}
	edict := c.fromConfigMaps(nil)
	c.wantNote("one", map[string]string{"status": "Active"})
	label := func(name string, value any) {
		t.Helper()
		c.merge("ConfigMap", home, name, "", labelsOf(object{"edict.dev/policy": value}))
	}
	label("one", "True")
	c.wantNote("one", map[string]string{"status": "Stopped", "policies": "", "revision": "", "error": `its label edict.dev/policy is "True", and only "true" counts`})
	label("one", "true")
	c.wantNote("one", map[string]string{"status": "Active", "policies": "one=", "error": ""})
	label("one", nil)
	c.wantNote("one", map[string]string{"status": "Stopped", "policies": "", "error": "it has no label edict.dev/policy=true"})
	edict.stop()
	label("two", nil)
	c.fromConfigMaps(nil)
	c.wantNote("two", map[string]string{"status": "Stopped", "policies": "", "error": "it has no label edict.dev/policy=true"})
	label("two", "true")
	c.wantNote("two", map[string]string{"status": "Active", "error": ""})
	c.delete("ConfigMap", home, "two")
	eventually(t, "the Events", func() string {
		if n := c.eventsOf("PolicyStopped"); n < 2 {
			return "too few"
		}
		return ""
	})
	log := edict.log.String()
	if n := strings.Count(log, `"the policy no longer runs","policy":"one"`); n != 2 {
		t.Errorf("it has stopped %d times", n)
	}
}

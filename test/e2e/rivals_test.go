package e2e

import (
	"testing"
	"time"
)

// TestRivals: the ConfigMap of a policy and an Event name who else writes what
// it writes.
func TestRivals(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "x")}))
	c.fromConfigMaps(nil)
	c.wantPath("Node", "", "a", "x", "metadata", "labels", "one")
	for range 4 { // an object is looked at once a second; one more would be Contested
		time.Sleep(time.Second)
		c.merge("Node", "", "a", "", labelsOf(object{"one": "y"}))
		c.wantPath("Node", "", "a", "x", "metadata", "labels", "one")
	}
	c.wantNote("one", map[string]string{"status": "Active", "error": "", "warning": " writes what the policy one writes, such as in Node a: stop one of the two"})
	eventually(t, "the Event", func() string {
		if c.eventsOf("PolicyOverwritten") == 0 {
			return "there is none"
		}
		return ""
	})
}

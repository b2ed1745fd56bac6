package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/test/controlplane"
)

// TestStopsAreReported: a set whose text loses a policy, and one whose ConfigMap is gone, say so, and
// an Event tells which policy has stopped.
func TestStopsAreReported(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"p.yaml": marks("one", "one", "a"), "q.yaml": marks("two", "two", "a")})
	edict := c.fromSets(nil)
	c.wants("one", "Ready", "True Enforcing")
	c.merge("ConfigMap", home, "one", "", object{"data": object{"q.yaml": nil}})
	eventually(t, "the Event", func() string {
		if n := c.eventsOf("PolicyStopped"); n < 1 {
			return "there is none"
		}
		return ""
	})
	c.wants("one", "Ready", "True Enforcing")
	c.delete("ConfigMap", home, "one")
	c.wants("one", "Ready", "False LastGoodEnforced")
	c.wants("one", "Accepted", "False SourceNotFound")
	if n := strings.Count(edict.log.String(), `"the policy no longer runs"`); n != 1 {
		t.Errorf("%d policies have stopped", n)
	}
}

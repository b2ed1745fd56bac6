package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run"
)

// TestTakeBack: a revision that was well when it was tried, and under which most of the
// objects fail soon after, is taken back by itself, also for the next process;
// another text is tried again.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	for i := range 6 {
		c.put(node(fmt.Sprint("n", i), "z", true, time.Now()))
	}
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	// Three of six are too few: the controller may look when only so many have failed yet.
	within := func(o *run.Options) { o.AutoRollback.Within, o.AutoRollback.Share = time.Minute, 0.6 }
	first := c.fromConfigMaps(within)
	c.wantMarks("n0", map[string]string{"one": "a"})
	c.wantNote("one", map[string]string{"status": "Active"})

	fragile := strings.Replace(marks("one", "one", "b"), `"${params.value}"`, `"${object.metadata.?labels[?'boom'].orValue('') == '' ? params.value : object.metadata.labels.missing}"`, 1)
	c.put(policyMap("one", map[string]string{"one.yaml": fragile}))
	c.wantMarks("n0", map[string]string{"one": "b"})
	c.wantNote("one", map[string]string{"status": "Active"})
	for i := range 4 {
		c.merge("Node", "", fmt.Sprint("n", i), "", object{"metadata": object{"labels": object{"boom": "x"}}})
	}
	c.wantNote("one", map[string]string{"status": "Refused", "error": "taken back: 4 of 6 objects fail", "policies": "one="})
	c.wantMarks("n0", map[string]string{"one": "a", "boom": "x"})
	first.stop()
	c.merge("Node", "", "n0", "", object{"metadata": object{"labels": object{"one": nil}}})
	c.fromConfigMaps(within)
	c.wantMarks("n0", map[string]string{"one": "a", "boom": "x"})
	c.wantNote("one", map[string]string{"status": "Refused", "error": "taken back: 4 of 6 objects fail", "policies": "one="})
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "c")}))
	c.wantMarks("n0", map[string]string{"one": "c", "boom": "x"})
	c.wantNote("one", map[string]string{"status": "Active", "error": ""})
}

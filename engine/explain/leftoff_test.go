package explain_test

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/record"
)

// TestLeftOff: a record that is not whole says so.
func TestLeftOff(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	d := &record.Document{Policy: "p", LeftOff: []record.LeftOffDocument{{List: "reads", Count: 4000}}}
	if err := explain.Text(&out, "Node", d); err != nil || !strings.Contains(out.String(), "Not all is shown: the record is too large. Left off:\n  4000 of reads\n") {
		t.Errorf("%v: %s", err, out.String())
	}
}

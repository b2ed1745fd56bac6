package explain_test

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/record"
)

// TestCallThatWasNotMade: a call that was answered before is told from one that was made.
func TestCallThatWasNotMade(t *testing.T) {
	t.Parallel()
	for before, want := range map[bool]string{true: "  q.ask (rule \"r\"), answered before: ", false: "  q.ask (rule \"r\"): "} {
		var out strings.Builder
		d := &record.Document{Policy: "p", Calls: []record.CallDocument{{Rule: "r", Builtin: "q.ask", AnsweredBefore: before}}}
		if err := explain.Text(&out, "Node", d); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}

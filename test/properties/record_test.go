package properties

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/record"
)

// TestRecordsReplay: every decision of all policy tests is evaluated again from
// its record, and comes out identical. The tests have restarts, failing writes,
// debounced rules, remembered values and calls of builtins.
func TestRecordsReplay(t *testing.T) {
	t.Parallel()
	var count, calls, stateful atomic.Int64
	log := &record.Log{Seen: func(r *record.Record) {
		count.Add(1)
		calls.Add(int64(len(r.Decision.Calls)))
		if r.Inputs.Policy.Stateful {
			stateful.Add(1)
		}
		if d := cmp.Diff(written(r.Decision), written(r.Replay(t.Context()))); d != "" && !t.Failed() {
			t.Errorf("%s %s decides otherwise from its record (-then +now):\n%s", r.Inputs.Policy.ID(), r.Inputs.Key, d)
		}
	}}
	paths := []string{filepath.Join("..", "..", "policies"), filepath.Join("..", "..", "policy-tests")}
	if testing.Short() {
		paths = []string{filepath.Join("..", "..", "policy-tests", "replica-scheduling"), filepath.Join("..", "..", "policy-tests", "secret-restart")}
	}
	report, err := policytest.Run(t.Context(), paths, policytest.Options{Records: log})
	if err != nil || report.Failed() > 0 {
		t.Fatalf("%d tests failed, %v", report.Failed(), err)
	}
	t.Logf("%d decisions, %d of policies with a state, %d calls", count.Load(), stateful.Load(), calls.Load())
	if count.Load() < 100 || stateful.Load() == 0 || calls.Load() == 0 {
		t.Errorf("%d decisions, %d of policies with a state, %d calls: too few to tell", count.Load(), stateful.Load(), calls.Load())
	}
}

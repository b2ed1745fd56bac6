package properties

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/test/budget"
)

// TestRecordsReplay: every decision of all policy tests is evaluated again from
// its record, and comes out identical, with as many excluded candidates as its
// messages say. The tests have restarts, failing writes, debounced rules, remembered
// values and calls of builtins.
func TestRecordsReplay(t *testing.T) {
	t.Parallel()
	var count, calls, stateful, selections atomic.Int64
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
	seen := log.Seen
	log.Seen = func(r *record.Record) {
		seen(r)
		doc := r.Render(t.Context())
		selections.Add(int64(checkSelections(t, doc)))
		if d := cmp.Diff(rendered(doc), counted(r)); d != "" && !t.Failed() {
			t.Errorf("%s %s: the outcomes of its rules are counted otherwise than its record has them (-record +counted):\n%s", r.Inputs.Policy.ID(), r.Inputs.Key, d)
		}
	}
	paths := []string{filepath.Join("..", "..", "policies"), filepath.Join("..", "..", "policy-tests")}
	if !budget.Long() {
		paths = []string{filepath.Join("..", "..", "policy-tests", "choosing"), filepath.Join("..", "..", "policy-tests", "secret-restart"), filepath.Join("..", "..", "policy-tests", "replica-scheduling", "order.yaml")}
	}
	report, err := policytest.Run(t.Context(), paths, policytest.Options{Records: log})
	if err != nil || report.Failed() > 0 {
		t.Fatalf("%d tests failed, %v", report.Failed(), err)
	}
	found := fmt.Sprintf("%d decisions, %d of policies with a state, %d calls, %d steps of selections that excluded something", count.Load(), stateful.Load(), calls.Load(), selections.Load())
	t.Log(found)
	if count.Load() < 100 || stateful.Load() == 0 || calls.Load() == 0 || selections.Load() == 0 {
		t.Errorf("%s: too few to tell", found)
	}
}

// rendered returns the outcomes of the rules as the document of a record has them.
func rendered(doc *record.Document) (out []string) {
	for _, rule := range doc.Rules {
		out = append(out, rule.Outcome)
	}
	return out
}

// counted returns the outcomes of the rules as the metrics count them.
func counted(r *record.Record) (out []string) {
	for i, rule := range r.Inputs.Policy.Rules {
		switch d := r.Decision; {
		case !d.Reached.Has(i):
			out = append(out, record.OutcomeNotReached)
		case d.Failed(rule.Name):
			out = append(out, record.OutcomeFailed)
		case d.Fired.Has(i):
			out = append(out, record.OutcomeFired)
		case d.Delayed(i) != nil:
			out = append(out, record.OutcomeDelayed)
		default:
			out = append(out, record.OutcomeSkipped)
		}
	}
	return out
}

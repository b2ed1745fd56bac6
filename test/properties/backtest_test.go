package properties

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/edict-dev/edict/engine/backtest"
	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/changelog"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/source"
)

// TestBacktestOfNoEdit: the decisions of a change log turn out the same when they
// are made again by the same policies. The log is that of all policy tests.
func TestBacktestOfNoEdit(t *testing.T) {
	t.Parallel()
	paths := []string{filepath.Join("..", "..", "policies"), filepath.Join("..", "..", "policy-tests")}
	b, err := source.Load(paths, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	revisions := map[string]*plan.Policy{}
	for _, p := range b.Policies {
		revisions[p.Name+p.Revision] = p
	}
	var log bytes.Buffer
	encoder := json.NewEncoder(&log)
	every, n := 3, 0
	if testing.Short() {
		every = 20
	}
	records := &record.Log{Prefix: "r", Seen: func(r *record.Record) {
		if n++; n%every > 0 || revisions[r.Inputs.Policy.Name+r.Inputs.Policy.Revision] == nil {
			return // or it has other params than its file
		}
		for _, line := range changelog.Lines(t.Context(), r, true) {
			if err := encoder.Encode(line); err != nil {
				t.Error(err)
			}
		}
	}}
	if _, err := policytest.Run(t.Context(), paths[1:], policytest.Options{Records: records}); err != nil {
		t.Fatal(err)
	}
	got, err := backtest.Run(t.Context(), &log, b.Policies, capture.Options{Schemas: b.Schemas, Guard: guard.New(b.Allowances).Assuming()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d decisions, %d the same, %d different, %d not decided", got.Decisions, got.Same, len(got.Different), len(got.NotDecided))
	for _, d := range got.Different[:min(5, len(got.Different))] {
		text, err := json.Marshal(d)
		t.Log(string(text), err)
	}
	if len(got.Different) > 0 || len(got.NotDecided) > got.Decisions/20 || got.Same == 0 {
		t.Errorf("%d decisions, %d the same, %d different, %d not decided", got.Decisions, got.Same, len(got.Different), len(got.NotDecided))
	}
}

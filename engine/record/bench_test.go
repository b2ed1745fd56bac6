package record_test

import (
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
)

// BenchmarkRecord is what a record adds to a decision in a controller, which keeps
// no log. BenchmarkSmallEvaluation is what it is held against.
func BenchmarkRecord(b *testing.B) {
	var log *record.Log
	in := eval.Input{Policy: &plan.Policy{}, Key: eval.Key{Name: "x"}}
	d := &eval.Decision{}
	wakes := []record.Wake{{Reason: record.Changed}}
	b.ReportAllocs()
	for b.Loop() {
		r := record.Begin(in)
		r.WokenBy, r.Decision = wakes, d
		r.End()
		log.Add(r)
	}
}

// TestRecordAllocates: a record is one allocation.
func TestRecordAllocates(t *testing.T) {
	log := &record.Log{Size: 512}
	in := eval.Input{Policy: &plan.Policy{}, Key: eval.Key{Name: "x"}}
	d := &eval.Decision{}
	got := testing.AllocsPerRun(1000, func() {
		r := record.Begin(in)
		r.Decision = d
		r.End()
		log.Add(r)
	})
	if got > 1 {
		t.Errorf("%v allocations", got)
	}
}

package simulate

import (
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// history is what a simulation did.
type history struct {
	result Result
	// kept is how many bytes the result and the written objects take, about.
	kept int
	// evaluations counts the reconciliations.
	evaluations int
	// fired counts, by policy and rule, how often rules fired.
	fired map[string]map[string]int
	// pauses are those of processes that have ended.
	pauses []brake.Pause
}

// record takes what a reconciliation did.
func (h *history) record(at time.Time, i item, r reconcile.Result) {
	h.kept += h.result.record(at, i, r)
}

// noteFired counts the rules that fired in a decision.
func (h *history) noteFired(p *plan.Policy, d *eval.Decision) {
	if h.fired[p.ID()] == nil {
		h.fired[p.ID()] = map[string]int{}
	}
	for i, r := range p.Rules {
		if d.Fired.Has(i) {
			h.fired[p.ID()][r.Name]++
		}
	}
}

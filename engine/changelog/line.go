package changelog

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/capture"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// Line is one write.
type Line struct {
	// ID is that of the decision: the writes of one decision share it.
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Policy   string    `json:"policy"`
	Revision string    `json:"revision"`
	Rule     string    `json:"rule"`
	Key      eval.Key  `json:"key"`
	// WokenBy says why the key was evaluated, Reads what the decision depended on.
	WokenBy     []record.WakeDocument `json:"wokenBy"`
	Reads       []record.ReadDocument `json:"reads"`
	Verb        string                `json:"verb"`
	Subresource string                `json:"subresource,omitempty"`
	Target      record.ObjectDocument `json:"target"`
	Before      any                   `json:"before,omitempty"`
	Patch       any                   `json:"patch,omitempty"`
	Result      string                `json:"result"`
	Error       string                `json:"error,omitempty"`
	// Failed are the rules of the decision that failed.
	Failed []string `json:"failed,omitempty"`
	// Inputs are what the decision depended on, in the first line of a decision when
	// the log keeps them.
	Inputs *capture.Inputs `json:"inputs,omitempty"`
	// Calls are those of builtins that call out, in the line that has the inputs.
	Calls []record.CallDocument `json:"calls,omitempty"`
}

// Lines returns the writes of a decision; none when nothing was to be written. With
// inputs, the first line has what the decision depended on, unless a policy reads
// values of Secrets or it cannot be decided again.
func Lines(ctx context.Context, r *record.Record, inputs bool) []Line {
	if len(r.Decision.Effects) == 0 {
		return nil
	}
	again := r.Again(ctx, "")
	doc := again.Render()
	failed := FailedRules(r.Decision)
	out := make([]Line, len(doc.Effects))
	for i, e := range doc.Effects {
		out[i] = Line{
			ID: doc.ID, At: doc.At, Policy: doc.Policy, Revision: doc.Revision, Rule: e.Rule, Key: doc.Key, WokenBy: doc.WokenBy, Reads: doc.Reads,
			Verb: e.Verb, Subresource: e.Subresource, Target: e.Target, Before: e.Before, Patch: e.Patch, Result: e.Result, Error: e.Error, Failed: failed,
		}
	}
	if inputs && !r.SeesValues() {
		if in, err := capture.InputsOf(r, again.Reads()); err == nil {
			out[0].Inputs, out[0].Calls = in, doc.Calls
		}
	}
	return out
}

// FailedRules returns the names of the rules of a decision that failed, in order,
// once for each item.
func FailedRules(d *eval.Decision) (out []string) {
	for i := range d.Problems {
		out = append(out, d.Problems[i].Rule)
	}
	return out
}

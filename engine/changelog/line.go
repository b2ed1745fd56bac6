package changelog

import (
	"context"
	"time"

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
}

// Lines returns the writes of a decision; none when nothing was to be written.
func Lines(ctx context.Context, r *record.Record) []Line {
	if len(r.Decision.Effects) == 0 {
		return nil
	}
	doc := r.Render(ctx)
	out := make([]Line, len(doc.Effects))
	for i, e := range doc.Effects {
		out[i] = Line{
			ID: doc.ID, At: doc.At, Policy: doc.Policy, Revision: doc.Revision, Rule: e.Rule, Key: doc.Key, WokenBy: doc.WokenBy, Reads: doc.Reads,
			Verb: e.Verb, Subresource: e.Subresource, Target: e.Target, Before: e.Before, Patch: e.Patch, Result: e.Result, Error: e.Error,
		}
	}
	return out
}

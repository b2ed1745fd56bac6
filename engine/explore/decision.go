package explore

import (
	"context"
	"fmt"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/record"
)

// The states of a decision.
const (
	// StateWrites is that something is written, StateNothing that nothing has to be.
	StateWrites  = "writes"
	StateNothing = "nothing"
	// StateFailed is that a rule failed, or that something may not be written.
	StateFailed = "failed"
)

// Question asks for a decision.
type Question struct {
	Policy  string
	Key     eval.Key
	Variant Variant
	Clock   Clock
	// About is the name of something to be told why it was not chosen or listed; ""
	// is nothing.
	About string
	// Record is the ID of a decision that was made while the policies ran; "" asks for
	// the decision at the clock.
	Record string
}

// Decision is a decision with all that the page says of it.
type Decision struct {
	Kind     string `json:"kind"`
	State    string `json:"state"`
	Sentence string `json:"sentence"`
	// WhyNot says what became of what was asked about.
	WhyNot []string         `json:"whyNot,omitempty"`
	Record *record.Document `json:"record"`
	// Notes stand beside the lines of the policy's text.
	Notes []Note `json:"notes"`
}

// Decide returns the decision about a key, and writes nothing.
func (w *World) Decide(ctx context.Context, q Question) (*Decision, error) {
	decide := w.look
	if q.Record != "" {
		decide = w.recorded
	}
	r, err := decide(ctx, q)
	if err != nil {
		return nil, err
	}
	p := r.Inputs.Policy
	doc := r.RenderAbout(ctx, q.About)
	out := &Decision{Kind: p.Primary.Kind, State: stateOf(r), Sentence: explain.Sentence(p.Primary.Kind, doc), Record: doc, Notes: notes(p, doc)}
	if q.About != "" {
		out.WhyNot = explain.WhyNot(doc, q.About)
	}
	return out, ctx.Err()
}

// look evaluates.
func (w *World) look(ctx context.Context, q Question) (r *record.Record, err error) {
	err = w.on(ctx, q.Variant, q.Clock, func(s *stage) error {
		p, err := policyOf(s.policies, q.Policy)
		if err != nil {
			return err
		}
		c := s.sim.Controller(p.ID())
		if c == nil {
			return &NotFoundError{What: fmt.Sprintf("the policy %s is %s: nothing is decided by it", p.ID(), p.Mode)}
		}
		r = c.Look(ctx, q.Key, w.options.Start.Add(q.Clock.After), nil)
		if !r.Exists() {
			return &NotFoundError{What: fmt.Sprintf("there is no %s %s that the policy %s decides about at this time", p.Primary.Kind, q.Key, p.ID())}
		}
		return nil
	})
	return r, err
}

func stateOf(r *record.Record) string {
	switch {
	case r.Errors[0] != nil || r.Errors[1] != nil || len(r.Decision.Problems) > 0:
		return StateFailed
	case len(r.Decision.Effects) > 0:
		return StateWrites
	default:
		return StateNothing
	}
}

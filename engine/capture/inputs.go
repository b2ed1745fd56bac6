package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
)

// inputs are all that a decision depended on, as plain values.
type inputs struct {
	// objects are those that were read, with the fields that were.
	objects []simulate.Object
	// primary is the object that was decided about, if the controller did not see it
	// first when it started.
	primary simulate.Object
	// answers are those of builtins that call out.
	answers map[string]any
	// remembered is what the key remembered, as tests write it.
	remembered map[string]any
	// values holds the values of the Secrets that were read.
	values *snapshot.Values
	// waited is how long the decision was debounced.
	waited time.Duration
}

// inputsOf returns what the decision of a record depended on. The error is ErrNotAlone for a decision that depended on more.
func inputsOf(ctx context.Context, r *record.Record) (*inputs, error) {
	if r.Inputs.Instead != nil || r.Inputs.Flush {
		return nil, fmt.Errorf("%w: it runs what was debounced before", ErrNotAlone)
	}
	if len(r.Inputs.Rejected) > 0 {
		return nil, fmt.Errorf("%w: it leaves out what the API server had just refused", ErrNotAlone)
	}
	if slices.ContainsFunc(r.Decision.Calls, func(c eval.Call) bool { return errors.Is(c.Err, expr.ErrNoAnswer) }) {
		return nil, fmt.Errorf("%w: it needs an answer that is not known", ErrNotAlone)
	}
	out := &inputs{remembered: remembered(r)}
	var err error
	if out.answers, err = builtins.Recorded(exchanges(r)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAlone, err)
	}
	var objects []simulate.Object
	if objects, out.values, err = taken(r, r.Reads(ctx)); err != nil {
		return nil, err
	}
	out.answers, _ = out.values.Hide(out.answers).(map[string]any)
	out.remembered, _ = out.values.Hide(out.remembered).(map[string]any)
	out.objects, out.primary = split(r, objects)
	return out, nil
}

// begin returns the world of a decision, with a policy that has decided nothing.
func (in *inputs) begin(ctx context.Context, p *plan.Policy, at time.Time, o Options) (*simulate.Simulation, error) {
	scripted, err := builtins.Scripted(in.answers)
	if err != nil {
		return nil, err
	}
	memory, err := simulate.ParseMemory(in.remembered)
	if err != nil {
		return nil, err
	}
	policy := *p
	policy.Mode = plan.Enforce
	sim := simulate.New(ctx, simulate.Options{
		Policies: []*plan.Policy{&policy}, Schemas: o.Schemas, Objects: in.objects, Guard: o.Guard, Start: at.Add(-in.waited), Answers: scripted, Remembered: memory,
	})
	if in.primary != nil {
		sim.Settle(ctx)
		sim.Apply(in.primary)
	}
	return sim, nil
}

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
)

// Inputs are all that a decision depended on, as plain values.
type Inputs struct {
	// Objects are those that were read, with the fields that were.
	Objects []simulate.Object `json:"objects"`
	// Primary is the object that was decided about, if the controller did not see it
	// first when it started.
	Primary simulate.Object `json:"primary,omitempty"`
	// Answers are those of builtins that call out.
	Answers map[string]any `json:"answers,omitempty"`
	// Remembered is what the key remembered, as tests write it.
	Remembered map[string]any `json:"remembered,omitempty"`
	// Waited is how long the decision was debounced.
	Waited time.Duration `json:"waited,omitempty"`
	// Debounced is what was debounced before, by debounce key.
	Debounced map[string]Debounced `json:"debounced,omitempty"`
}

// Debounced is what a controller knew of a debounce key.
type Debounced struct {
	// Rule is the name of the rule that waited; "" is none. Due is when it was to
	// run.
	Rule string    `json:"rule,omitempty"`
	Due  time.Time `json:"due,omitzero"`
	// Last is when a rule of the key last succeeded.
	Last time.Time `json:"last,omitzero"`
}

// debounced returns what was known of debounce keys.
func debounced(r *record.Record) map[string]Debounced {
	out := map[string]Debounced{}
	for key, i := range r.Inputs.Known() {
		if !i.Pending && i.Last.IsZero() {
			continue
		}
		one := Debounced{Last: i.Last}
		if i.Pending {
			one.Rule, one.Due = r.Inputs.Policy.Rules[i.Rule].Name, i.Due
		}
		out[key] = one
	}
	return out
}

// intents answers a policy about debounce keys, by the names of its rules.
func (in *Inputs) intents(p *plan.Policy) eval.Intents {
	return func(key string) eval.Intent {
		known, ok := in.Debounced[key]
		if !ok {
			return eval.Intent{}
		}
		at := slices.IndexFunc(p.Rules, func(r *plan.Rule) bool { return r.Name == known.Rule })
		return eval.Intent{Pending: at >= 0, Rule: max(at, 0), Due: known.Due, Last: known.Last}
	}
}

// InputsOf returns what the decision of a record depended on, of which reads are the
// objects. The error is ErrNotAlone for a decision that depended on more.
func InputsOf(r *record.Record, reads []eval.Read) (*Inputs, error) {
	if r.Inputs.Instead != nil || r.Inputs.Flush {
		return nil, fmt.Errorf("%w: it runs what was debounced before", ErrNotAlone)
	}
	if len(r.Inputs.Rejected) > 0 {
		return nil, fmt.Errorf("%w: it leaves out what the API server had just refused", ErrNotAlone)
	}
	if slices.ContainsFunc(r.Decision.Calls, func(c eval.Call) bool { return errors.Is(c.Err, expr.ErrNoAnswer) }) {
		return nil, fmt.Errorf("%w: it needs an answer that is not known", ErrNotAlone)
	}
	out := &Inputs{Remembered: remembered(r), Debounced: debounced(r)}
	var err error
	if out.Answers, err = builtins.Recorded(exchanges(r)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAlone, err)
	}
	objects, err := taken(r, reads)
	if err != nil {
		return nil, err
	}
	out.Objects, out.Primary = split(r, objects)
	return out, nil
}

// Check reports an object that is none: inputs that were read may be anybody's.
func (in *Inputs) Check() error {
	for i, o := range in.Objects {
		if err := named(o); err != nil {
			return fmt.Errorf("objects[%d] %w", i, err)
		}
	}
	if in.Primary == nil {
		return nil
	}
	if err := named(in.Primary); err != nil {
		return fmt.Errorf("primary %w", err)
	}
	return nil
}

func named(o simulate.Object) error {
	if o == nil {
		return errors.New("is null, not an object")
	}
	if id := simulate.ID(o); id.APIVersion == "" || id.Kind == "" || id.Name == "" {
		return errors.New("needs apiVersion, kind and metadata.name")
	}
	return nil
}

// Decide returns the decision that a policy makes about a key at a time, on what
// another decision depended on. Answers that this one did not ask for are those of
// a builtin that has none to give.
func Decide(ctx context.Context, p *plan.Policy, key eval.Key, at time.Time, in *Inputs, o Options) (*eval.Decision, error) {
	all := *in
	all.Waited, all.Primary = 0, nil
	if in.Primary != nil {
		all.Objects = append(slices.Clone(in.Objects), in.Primary)
	}
	sim, err := all.begin(ctx, p, at, o, nil)
	if err != nil {
		return nil, err
	}
	input := sim.Controller(p.Name).Input(key, at)
	input.Initial = in.Primary == nil
	input.Intents = in.intents(p)
	return eval.Evaluate(ctx, input, nil), nil
}

// begin returns the world of a decision, with a policy that has decided nothing.
func (in *Inputs) begin(ctx context.Context, p *plan.Policy, at time.Time, o Options, log *record.Log) (*simulate.Simulation, error) {
	scripted, err := builtins.Scripted(in.Answers)
	if err != nil {
		return nil, err
	}
	memory, err := simulate.ParseMemory(in.Remembered)
	if err != nil {
		return nil, err
	}
	policy := *p
	policy.Mode = plan.Enforce
	sim := simulate.New(ctx, simulate.Options{
		Policies: []*plan.Policy{&policy}, Schemas: o.Schemas, Objects: in.Objects, Guard: o.Guard, Start: at.Add(-in.Waited), Answers: scripted, Remembered: memory, Records: log,
	})
	if in.Primary != nil {
		sim.Settle(ctx)
		sim.Apply(in.Primary)
	}
	return sim, nil
}

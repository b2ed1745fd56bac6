package explore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/compare"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
)

// Timeline is what happens when all policies run, from the start to a horizon.
type Timeline struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Events are what happens, in order of time; More counts those left out.
	Events []Event `json:"events"`
	More   int     `json:"more"`
	// Ended says why nothing runs any more: the policies never come to rest.
	Ended string `json:"ended,omitempty"`
}

// Event is a write, a failure, or a deadline that lies behind the horizon.
type Event struct {
	At     time.Time        `json:"at"`
	What   string           `json:"what"`
	Policy string           `json:"policy"`
	Key    eval.Key         `json:"key"`
	Rule   string           `json:"rule,omitempty"`
	Verb   string           `json:"verb,omitempty"`
	Target *simulate.Target `json:"target,omitempty"`
	Error  string           `json:"error,omitempty"`
	// Record is the ID of the decision.
	Record string `json:"record,omitempty"`
}

// The kinds of events.
const (
	EventWrite    = "write"
	EventFailure  = "failure"
	EventDeadline = "deadline"
)

// maxEvents is how many events a timeline has.
const maxEvents = 5000

// Timeline runs all policies from the start until nothing is left to do before the
// horizon.
func (w *World) Timeline(ctx context.Context, horizon time.Duration) (*Timeline, error) {
	past, err := w.run(ctx, horizon)
	if err != nil {
		return nil, err
	}
	out := &Timeline{Start: w.options.Start.UTC(), End: w.options.Start.Add(horizon).UTC(), Events: events(past, w.hidden()), Ended: past.ended}
	out.More = max(0, len(out.Events)-maxEvents)
	out.Events = out.Events[:len(out.Events)-out.More]
	return out, nil
}

func events(p *past, hidden map[string]bool) []Event {
	out := []Event{}
	for _, r := range p.records {
		out = append(out, eventsOf(r, hidden)...)
	}
	for _, e := range p.ahead {
		out = append(out, Event{At: e.At, What: EventDeadline, Policy: e.Policy, Key: e.Key})
	}
	return out
}

// eventsOf returns what came of a decision.
func eventsOf(r *record.Record, hidden map[string]bool) (out []Event) {
	id := r.Inputs.Policy.ID()
	event := Event{At: r.At.UTC(), Policy: id, Key: r.Inputs.Key, Record: r.ID()}
	for _, o := range r.Outcomes {
		if !o.Written() {
			continue
		}
		write, e := event, o.Effect
		write.What, write.Rule, write.Verb = EventWrite, strings.Join(e.Rules, ", "), e.Verb
		write.Target = &simulate.Target{APIVersion: e.Target.APIVersion(), Kind: e.Target.Kind(), Namespace: e.Target.Namespace(), Name: e.Target.Name()}
		out = append(out, write)
	}
	if err := errors.Join(r.Errors[:]...); err != nil {
		event.What, event.Error = EventFailure, unless(hidden[id], err.Error())
		out = append(out, event)
	}
	return out
}

// hidden are the policies of which no value is shown: they read those of Secrets.
func (w *World) hidden() map[string]bool {
	out := map[string]bool{}
	all := w.options.Bundle.Policies
	if w.options.Against != nil {
		all = slices.Concat(all, w.options.Against.Policies)
	}
	for _, p := range all {
		out[p.ID()] = out[p.ID()] || record.SeesValues(p)
	}
	return out
}

func unless(hidden bool, text string) string {
	if hidden {
		return record.HiddenValue
	}
	return text
}

// Comparison is what an edit changes.
type Comparison struct {
	*compare.Result
	// More counts the changes that were left out.
	More int `json:"more"`
}

// maxChanges is how many changed objects a comparison has.
const maxChanges = 1000

// Compare says what changes between a variant and the policies of the world, when
// both run until nothing is left to do. The other revision is what was before; other
// params are what comes after.
func (w *World) Compare(ctx context.Context, v Variant, until time.Duration) (*Comparison, error) {
	other, err := w.policies(v)
	if err != nil {
		return nil, err
	}
	before, after := w.options.Bundle.Policies, other
	if v.Against {
		before, after = after, before
	}
	return w.compare(ctx, before, after, until)
}

func (w *World) compare(ctx context.Context, before, after []*plan.Policy, until time.Duration) (*Comparison, error) {
	r, err := compare.Run(ctx, compare.Options{
		Before: before, After: after, Schemas: w.schemas, Objects: w.options.Objects, Start: w.options.Start, Until: until, Answers: w.options.Answers, Guard: w.options.Guard,
	})
	if err != nil {
		return nil, err
	}
	w.hide(r)
	out := &Comparison{Result: r, More: max(0, len(r.Changes)-maxChanges)}
	r.Changes = r.Changes[:len(r.Changes)-out.More]
	return out, nil
}

// hide hides the values that may be those of Secrets.
func (w *World) hide(r *compare.Result) {
	hidden := w.hidden()
	for i := range r.Changes {
		c := &r.Changes[i]
		secret := c.Target.APIVersion == "v1" && c.Target.Kind == "Secret"
		if !secret && !slices.ContainsFunc(c.Policies, func(name string) bool { return hidden[name] }) {
			continue
		}
		for j := range c.Fields {
			f := &c.Fields[j]
			f.Before, f.After = hide(f.Before), hide(f.After)
		}
	}
	for i := range r.NotDecided {
		n := &r.NotDecided[i]
		n.Reason = unless(hidden[n.Policy], n.Reason)
	}
}

// hide hides a value, and not that there is none.
func hide(v any) any {
	if v == nil {
		return nil
	}
	return record.HiddenValue
}

package compare

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// Options are what is compared, and on what.
type Options struct {
	// Before and After are the policies before and after the edit.
	Before, After []*plan.Policy
	Schemas       *schema.Set
	Objects       []simulate.Object
	Start         time.Time
	// Until is how long the clock runs on, from one deadline to the next; 0 stops
	// when nothing is left to do at the start.
	Until time.Duration
	// Answers are those of builtins that call out. Nil knows none: a key that needs
	// one is not decided.
	Answers expr.Answerer
	Guard   guard.Guard
	// Evaluated is called after each evaluation, from several goroutines; nil is
	// not.
	Evaluated func()
	// Limits are the limits of the installation; if nil, the defaults.
	Limits *brake.Settings
}

// Result is what an edit changes: the contract of `edict plan -o json`.
type Result struct {
	// Changes are the objects that end up different, by kind, namespace and name.
	Changes []Change `json:"changes"`
	Created int      `json:"created"`
	Changed int      `json:"changed"`
	Deleted int      `json:"deleted"`
	// UnchangedObjects counts the objects that end up the same.
	UnchangedObjects int `json:"unchangedObjects"`
	// NotDecided are the keys for which the end is not known.
	NotDecided []NotDecided `json:"notDecided"`
	// Paused are the policies that the limits of writes would pause after the edit.
	Paused []simulate.Paused `json:"paused"`
	// Kept are fields that a policy wrote before the edit, and does not write after it, and
	// children of kinds that it no longer names: where they are, they stay.
	Kept []Kept `json:"kept,omitempty"`
	// Evaluations counts those of both runs.
	Evaluations int `json:"evaluations"`
}

// Change is an object that ends up different.
type Change struct {
	Target simulate.Target `json:"target"`
	// Verb is create, update or delete.
	Verb string `json:"verb"`
	// Policies are those that write the object in either run, sorted.
	Policies []string `json:"policies"`
	Fields   []Field  `json:"fields"`
}

// The verbs of a change.
const (
	VerbCreate = "create"
	VerbUpdate = "update"
	VerbDelete = "delete"
)

// NotDecided is a key for which the end is not known.
type NotDecided struct {
	Policy string   `json:"policy"`
	Key    eval.Key `json:"key"`
	Reason string   `json:"reason"`
	// Partly says that the key has writes nevertheless, of other rules or items.
	Partly bool `json:"partly,omitempty"`
}

// Run compares the policies before and after an edit.
func Run(ctx context.Context, o Options) (*Result, error) {
	var before, after *simulate.Simulation
	var runs sync.WaitGroup
	runs.Go(func() { before = o.run(ctx, o.Before) })
	runs.Go(func() { after = o.run(ctx, o.After) })
	runs.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	old, now := before.Shown(false), after.Shown(false)
	out := &Result{Changes: []Change{}, Evaluations: before.Evaluations() + after.Evaluations()}
	out.Paused, out.Kept = now.Paused, kept(o.Before, o.After)
	var changed []Change
	was, is := byID(before.Objects()), byID(after.Objects())
	for _, id := range union(was, is) {
		out.Kept = append(out.Kept, shared(id, was[id], is[id])...)
	}
	changed, out.UnchangedObjects = Objects(before.Objects(), after.Objects())
	out.take(changed, writersOf(old.Effects, now.Effects))
	out.NotDecided = notDecided(now.Errors, old.Errors)
	for i := range out.NotDecided {
		n := &out.NotDecided[i]
		n.Partly = slices.ContainsFunc(now.Effects, func(e simulate.Effect) bool { return e.Policy == n.Policy && e.Key == n.Key })
	}
	return out, nil
}

// run runs policies until nothing is left to do.
func (o *Options) run(ctx context.Context, policies []*plan.Policy) *simulate.Simulation {
	s := simulate.New(ctx, simulate.Options{
		Policies: policies, Schemas: o.Schemas, Objects: o.Objects, Guard: o.Guard, Start: o.Start, Answers: cmp.Or[expr.Answerer](o.Answers, expr.NoAnswers{}), Evaluated: o.Evaluated, Limits: o.Limits,
	})
	s.Settle(ctx)
	if o.Until > 0 {
		s.Advance(ctx, o.Start.Add(o.Until))
	}
	return s
}

// notDecided returns the keys that failed, each once.
func notDecided(lists ...[]simulate.Error) []NotDecided {
	out := []NotDecided{}
	for _, list := range lists {
		for _, e := range list {
			one := NotDecided{Policy: e.Policy, Key: e.Key, Reason: e.Message}
			if !slices.ContainsFunc(out, func(other NotDecided) bool { return other.Policy == one.Policy && other.Key == one.Key }) {
				out = append(out, one)
			}
		}
	}
	return out
}

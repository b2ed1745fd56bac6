package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// Clock says at which time a decision is made, and on what.
type Clock struct {
	// Run runs all policies first, until nothing is left to do, and on to the time:
	// the decision is made on what they leave. Otherwise the objects are as given.
	Run bool
	// After counts from the start of the world.
	After time.Duration
}

// Variant says by which policies is decided: those of the world, those of the other
// revision, or those of the world with other params of one policy.
type Variant struct {
	Against bool
	Policy  string
	// Params are values as they were typed.
	Params map[string]string
}

func (v Variant) id() string {
	if v.Against {
		return "against"
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v.Params)) {
		fmt.Fprintf(&out, "%q.%q=%q ", v.Policy, name, v.Params[name])
	}
	return out.String()
}

// stage is a simulation that is kept, because another question about it follows.
type stage struct {
	variant  string
	run      bool
	policies []*plan.Policy
	sim      *simulate.Simulation
}

// maxStages is how many simulations are kept: the world as given and as it is after
// a run, of two variants.
const maxStages = 4

// stage returns a simulation of a variant, run to the time if the policies run. It
// is called with the lock held.
func (w *World) stage(ctx context.Context, v Variant, at Clock) (*stage, error) {
	i := slices.IndexFunc(w.stages, func(s *stage) bool { return s.variant == v.id() && s.run == at.Run })
	var s *stage
	if i >= 0 {
		s = w.stages[i]
		w.stages = slices.Delete(w.stages, i, i+1)
	}
	if s == nil || at.Run && s.sim.Now().After(w.Start.Add(at.After)) {
		policies, err := w.policies(v)
		if err != nil {
			return nil, err
		}
		s = &stage{variant: v.id(), run: at.Run, policies: policies, sim: w.simulation(ctx, policies)}
		if at.Run {
			s.sim.Settle(ctx)
		}
	}
	if at.Run {
		s.sim.Advance(ctx, w.Start.Add(at.After))
	}
	if err := ctx.Err(); err != nil {
		return nil, err // it is not where it should be
	}
	w.stages = append(w.stages, s)
	if len(w.stages) > maxStages {
		w.stages = slices.Delete(w.stages, 0, 1)
	}
	return s, nil
}

func (w *World) simulation(ctx context.Context, policies []*plan.Policy) *simulate.Simulation {
	return simulate.New(ctx, simulate.Options{
		Policies: policies, Schemas: w.schemas, Objects: w.Objects, Guard: w.Guard, Start: w.Start, Answers: w.Answers,
	})
}

// policies returns those of a variant.
func (w *World) policies(v Variant) ([]*plan.Policy, error) {
	switch {
	case v.Against && w.Against == nil:
		return nil, &NotFoundError{What: "there is no other revision: start with --against PATH"}
	case v.Against:
		return w.Against.Policies, nil
	case len(v.Params) == 0:
		return w.Bundle.Policies, nil
	}
	p, err := policyOf(w.Bundle.Policies, v.Policy)
	if err != nil {
		return nil, err
	}
	with, err := w.withParams(p, v.Params)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(w.Bundle.Policies)
	out[slices.Index(out, p)] = with
	return out, nil
}

// pageSetsIt says who gives the values of params on the page.
const pageSetsIt = "edict explore"

// withParams compiles a policy with other values of some params.
func (w *World) withParams(p *plan.Policy, params map[string]string) (*plan.Policy, error) {
	unit := unitOf(w.Bundle, p)
	if unit == nil {
		return nil, &NotFoundError{What: fmt.Sprintf("the text of the policy %q is not known", p.Name)}
	}
	with := *unit
	with.Overrides = maps.Clone(unit.Overrides)
	if with.Overrides == nil {
		with.Overrides = map[string]compile.Override{}
	}
	for name, text := range params {
		with.Overrides[name] = compile.Override{Text: text, From: pageSetsIt}
	}
	out, problems, err := with.Compile(w.Bundle.Schemas, rego.Local())
	if err == nil && out == nil {
		err = document.Join(problems)
	}
	return out, err
}

// unitOf returns the text of a policy; nil when it is not known.
func unitOf(b *source.Bundle, p *plan.Policy) *source.Unit {
	for _, u := range b.Units {
		if u.Document.Pos == p.Source {
			return u
		}
	}
	return nil
}

package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
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

// stage is a simulation that is kept, because another question about it follows. It
// is used by one question at a time; those about others do not wait for it.
type stage struct {
	variant Variant
	run     bool

	mu       sync.Mutex
	policies []*plan.Policy
	// sim is nil until it is first asked for, and after a question that was given up.
	sim *simulate.Simulation
}

// maxStages is how many simulations are kept: the world as given and as it is after
// a run, of two variants.
const maxStages = 4

// stage returns the stage of a variant.
func (w *World) stage(v Variant, run bool) *stage {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.stages, func(s *stage) bool { return s.run == run && s.variant.id() == v.id() })
	s := &stage{variant: v, run: run}
	if i >= 0 {
		s = w.stages[i]
		w.stages = slices.Delete(w.stages, i, i+1)
	}
	w.stages = append(w.stages, s)
	if len(w.stages) > maxStages {
		w.stages = slices.Delete(w.stages, 0, 1)
	}
	return s
}

// on runs something on the world of a variant at a time.
func (w *World) on(ctx context.Context, v Variant, at Clock, do func(*stage) error) error {
	s := w.stage(v, at.Run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := w.reach(ctx, s, at); err != nil {
		return err
	}
	return do(s)
}

// reach runs the policies of a stage to a time, if they run at all.
func (w *World) reach(ctx context.Context, s *stage, at Clock) (err error) {
	if s.sim == nil || at.Run && s.sim.Now().After(w.options.Start.Add(at.After)) {
		if s.policies, err = w.policies(s.variant); err != nil {
			return err
		}
		s.sim = w.simulation(ctx, s.policies)
	}
	if at.Run {
		s.sim.Settle(ctx)
		s.sim.Advance(ctx, w.options.Start.Add(at.After))
	}
	if err := ctx.Err(); err != nil {
		s.sim = nil // it is not where it should be
		return err
	}
	return nil
}

func (w *World) simulation(ctx context.Context, policies []*plan.Policy) *simulate.Simulation {
	return simulate.New(ctx, simulate.Options{
		Policies: policies, Schemas: w.schemas, Objects: w.options.Objects, Guard: w.options.Guard, Start: w.options.Start, Answers: w.options.Answers,
	})
}

// policies returns those of a variant.
func (w *World) policies(v Variant) ([]*plan.Policy, error) {
	switch {
	case v.Against && w.options.Against == nil:
		return nil, &NotFoundError{What: "there is no other revision: start with --against PATH"}
	case v.Against:
		return w.options.Against.Policies, nil
	case len(v.Params) == 0:
		return w.options.Bundle.Policies, nil
	}
	p, err := policyOf(w.options.Bundle.Policies, v.Policy)
	if err != nil {
		return nil, err
	}
	with, err := w.withParams(p, v.Params)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(w.options.Bundle.Policies)
	out[slices.Index(out, p)] = with
	return out, nil
}

// pageSetsIt says who gives the values of params on the page.
const pageSetsIt = "edict explore"

// withParams compiles a policy with other values of some params.
func (w *World) withParams(p *plan.Policy, params map[string]string) (*plan.Policy, error) {
	unit := unitOf(w.options.Bundle, p)
	if unit == nil {
		return nil, &NotFoundError{What: fmt.Sprintf("the text of the policy %q is not known", p.ID())}
	}
	with := *unit
	with.Overrides = maps.Clone(unit.Overrides)
	if with.Overrides == nil {
		with.Overrides = map[string]compile.Override{}
	}
	for name, text := range params {
		with.Overrides[name] = compile.Override{Text: text, From: pageSetsIt}
	}
	out, problems, err := source.NewCompiler(nil, nil).Compile(context.Background(), &with, w.options.Bundle.Schemas)
	if err == nil && out == nil {
		err = document.Join(problems)
	}
	return out, err
}

// unitOf returns the text of a policy; nil when it is not known.
func unitOf(b *source.Bundle, p *plan.Policy) *source.Unit {
	for _, u := range b.Units {
		if u.Document.Pos == p.Source && u.ID() == p.ID() {
			return u
		}
	}
	return nil
}

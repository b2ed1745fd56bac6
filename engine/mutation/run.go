package mutation

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/source"
)

// Options say how policies are mutated.
type Options struct {
	// Schemas are folders of CRDs, besides those beside the policies.
	Schemas []string
	// Params override those of the policies, unless a test gives others.
	Params compile.Overrides
	// Time is how long mutants are tried; those left over are not run. 0 tries all.
	Time time.Duration
	// Seed is what the order of the mutants follows from.
	Seed uint64
	// Policies are the names of those that are mutated; none means all.
	Policies []string
	// Progress is called after each mutant; nil is not.
	Progress func(done, all int)
}

// Result is what came of the mutants.
type Result struct {
	// Mutants is how many were run. Those that do not compile, or are the same policy
	// in other words, are Invalid, and not among them.
	Mutants int `json:"mutants"`
	Killed  int `json:"killed"`
	Invalid int `json:"invalid"`
	// NotRun is how many the time was too short for.
	NotRun int `json:"notRun"`
	// Score is the share of the mutants that were noticed, in per cent.
	Score     float64  `json:"score"`
	Survivors []Mutant `json:"survivors"`
	// Seed is what the order followed from.
	Seed uint64 `json:"seed"`
}

// Run mutates the policies that the tests at some paths test, and runs the tests of
// each mutant up to the first case that fails. Tests that fail without any mutation
// are an error.
func Run(ctx context.Context, paths []string, o Options) (*Result, error) {
	s, err := survey(ctx, paths, o)
	if err != nil {
		return nil, err
	}
	if err := s.tests(o.Policies); err != nil {
		return nil, err
	}
	all := s.mutants(o.Policies)
	order := rand.New(rand.NewPCG(o.Seed, 0)) //nolint:gosec // the same seed gives the same order
	order.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	r := &run{suite: s, options: o, all: all, out: &Result{Seed: o.Seed}}
	if o.Time > 0 {
		r.until = time.Now().Add(o.Time)
	}
	if err := r.workers(ctx); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// run tries mutants, several at a time.
type run struct {
	suite   *suite
	options Options
	all     []trial
	until   time.Time

	mu   sync.Mutex
	next int
	done int
	out  *Result
	errs []error
}

// trial is a mutant of a policy of the suite.
type trial struct {
	mutant Mutant
	of     *tested
}

func (r *run) workers(ctx context.Context) error {
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for t := r.take(ctx); t != nil; t = r.take(ctx) {
				r.try(ctx, t)
			}
		})
	}
	all.Wait()
	return errors.Join(append(r.errs, ctx.Err())...)
}

// take returns the next mutant; nil when there is none, or no time.
func (r *run) take(ctx context.Context) *trial {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == len(r.all) || len(r.errs) > 0 || ctx.Err() != nil || !r.until.IsZero() && time.Now().After(r.until) {
		return nil
	}
	r.next++
	return &r.all[r.next-1]
}

func (r *run) try(ctx context.Context, t *trial) {
	valid := t.of.differs(&t.mutant)
	killed, err := false, error(nil)
	if valid {
		killed, err = r.killed(ctx, t.of, &t.mutant)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	switch {
	case err != nil:
		r.errs = append(r.errs, err)
	case !valid:
		r.out.Invalid++
	case killed:
		r.out.Killed++
	default:
		r.out.Survivors = append(r.out.Survivors, t.mutant)
	}
	if r.options.Progress != nil {
		r.options.Progress(r.done, len(r.all))
	}
}

// killed reports whether a case fails with the mutant in place of the policy, of each kind.
func (r *run) killed(ctx context.Context, of *tested, mutant *Mutant) (bool, error) {
	for _, file := range of.files {
		report, err := policytest.Run(ctx, []string{file}, policytest.Options{
			Schemas: r.options.Schemas, Params: r.options.Params, UntilFailure: true,
			Edit: func(u *source.Unit) {
				if k := of.kindOf(u); k != nil {
					u.Document = mutant.Apply(k.unit.Document)
				}
			},
		})
		if err != nil {
			return false, err
		}
		if report.Failed() > 0 {
			return true, nil
		}
	}
	return false, nil
}

func (r *run) result() *Result {
	out := r.out
	out.Mutants = out.Killed + len(out.Survivors)
	out.NotRun = len(r.all) - r.done
	out.Score = 100
	if out.Mutants > 0 {
		out.Score = 100 * float64(out.Killed) / float64(out.Mutants)
	}
	slices.SortFunc(out.Survivors, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return out
}

// differs reports whether the change makes another policy of one of the kinds, and one
// that compiles of all of them.
func (t *tested) differs(m *Mutant) bool {
	differs := false
	for _, k := range t.kinds {
		doc := m.Apply(k.unit.Document)
		if doc == nil {
			return false
		}
		unit := *k.unit
		unit.Document = doc
		p, problems, err := source.NewCompiler(nil, nil).Compile(context.Background(), &unit, t.schemas)
		if err != nil || p == nil || document.Join(problems) != nil {
			return false
		}
		differs = differs || p.Graph.Hash() != k.plan.Graph.Hash()
	}
	return differs
}

package policytest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// Embedded are policies and their tests in one place that is no folder, such as
// a ConfigMap.
type Embedded struct {
	// Tests are the files with tests, Units the policies beside them.
	Tests []load.Source
	Units []*source.Unit
	// Subject is the policy that is tested: tests that name others only are
	// passed over. Without one all tests are run.
	Subject    *source.Unit
	Schemas    *schema.Set
	Allowances []v1alpha1.Allowance
	// Skip is how many cases are passed over, the tests in Rego with the first. Slice is the
	// time after which no further case is begun; 0 is any.
	Skip  int
	Slice time.Duration

	// cases counts the cases that were looked at, until is the end of the slice.
	cases int
	until time.Time
}

// skips reports whether the next case is passed over, and notes it if the time is over.
func (e *Embedded) skips(r *Report) bool {
	if e == nil {
		return false
	}
	if e.Slice > 0 && e.cases > e.Skip && r.Next == 0 && time.Now().After(e.until) {
		r.Next = e.cases
	}
	e.cases++
	return e.cases <= e.Skip || r.Next > 0
}

// The tests of a place run for a controller. MaxKept bounds what a case
// keeps of what policies did, in bytes; MaxFailed is after how many cases that fail no more
// are run.
const (
	MaxKept   = 64 << 20
	MaxFailed = 20
)

// RunEmbedded runs the tests that concern a policy, those in Rego too. A test
// that names no policies concerns all that stand beside it. It ends with an
// error when the context ends, and after MaxFailed cases that fail.
func RunEmbedded(ctx context.Context, e Embedded) (*Report, error) {
	e.until = time.Now().Add(e.Slice)
	r := runner{maxFailed: MaxFailed, report: &Report{Coverage: map[string]map[string]int{}}, embedded: &e, modules: map[string]bool{}}
	if err := r.embeddedTests(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("they took too long: %w", context.Cause(ctx))
	}
	return r.report, nil
}

// embeddedTests runs the tests of the place, those in Rego first.
func (r *runner) embeddedTests(ctx context.Context) error {
	units := r.embedded.Units
	if r.embedded.Subject != nil {
		units = []*source.Unit{r.embedded.Subject}
	}
	if r.embedded.Skip == 0 {
		if err := r.modulesOf(ctx, units); err != nil {
			return err
		}
	}
	for _, f := range r.embedded.Tests {
		found, problems := load.Documents(f.Path, f.Text)
		if err := document.Join(problems); err != nil {
			return err
		}
		if err := r.tests(ctx, f.Path, slices.DeleteFunc(found.Tests, func(t *v1alpha1.PolicyTest) bool {
			return r.embedded.Subject != nil && !r.embedded.tested(t, r.embedded.Subject)
		})); err != nil {
			return err
		}
	}
	return nil
}

// tested reports whether a test is about a policy.
func (e *Embedded) tested(t *v1alpha1.PolicyTest, u *source.Unit) bool {
	for _, p := range t.Spec.Policies {
		if p.Value == source.Folder || p.Value == path.Base(u.File.Path) {
			return true
		}
	}
	return len(t.Spec.Policies) == 0
}

// inPlace compiles the policies of the place that a test is about. The subject is as it is
// now; whatever mode a policy has, what it would do is tested.
func (r *runner) inPlace(t *v1alpha1.PolicyTest, params compile.Overrides) (*source.Bundle, error) {
	e := r.embedded
	var units []*source.Unit
	for _, u := range e.Units {
		if !e.tested(t, u) {
			continue
		}
		u = u.InNoSet()
		if r.options.Edit != nil {
			r.options.Edit(u)
		}
		units = append(units, u)
	}
	b, err := source.Assemble(units, e.Schemas, e.Allowances, params)
	if err != nil {
		return nil, err
	}
	for _, p := range b.Policies {
		p.Mode = plan.Enforce
	}
	r.cover(b)
	return b, b.Err()
}

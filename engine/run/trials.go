package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// trials runs the tests that stand beside policies, one ConfigMap after the
// other and beside whoever follows the ConfigMaps: slow tests hold up only what
// they are tests of.
type trials struct {
	judge judge
	// under is the trial under way, nil if there is none.
	under *trial
	// ended holds the trial under way when it has ended.
	ended chan *trial
}

// trial is the tests of the policies of one ConfigMap.
type trial struct {
	origin  *source.Contents
	accused []*accused
	cancel  context.CancelFunc
	// types are those of all that the policies read.
	types *schema.Set
}

// accused is a policy of a trial, and what speaks against it.
type accused struct {
	result *lifecycle.CheckResult
	id     string
	unit   *source.Unit
	failed []document.Problem
}

func newTrials(j judge) *trials { return &trials{judge: j, ended: make(chan *trial, 1)} }

// testPatience bounds the time for the tests of one ConfigMap.
const testPatience = 20 * time.Second

// hasTests reports whether there are tests beside a policy.
func hasTests(u *source.Unit, origin *source.Contents) bool {
	return len(origin.Tests) > 0 || slices.ContainsFunc(u.Modules, rego.Module.IsTest)
}

// next begins the next trial, if none is under way that still matters.
func (t *trials) next(ctx context.Context, c *source.Catalog, policies *lifecycle.Registry, goes func(func())) {
	if t.under != nil {
		if !t.under.matters(policies) {
			t.under.cancel() // the next begins when it has ended
		}
		return
	}
	next := pick(c, policies)
	if next == nil {
		return
	}
	ctx, next.cancel = context.WithCancel(ctx)
	t.under = next
	goes(func() {
		t.judge.try(ctx, next)
		t.ended <- next
	})
}

// end takes the outcome of the trial that has ended.
func (t *trials) end(done *trial, policies *lifecycle.Registry) {
	done.cancel()
	t.under = nil
	t.judge.settle(done, policies)
}

// matters reports whether somebody waits for the outcome.
func (t *trial) matters(policies *lifecycle.Registry) bool {
	return slices.ContainsFunc(t.accused, func(a *accused) bool { return policies.Get(a.id).Newest == a.result })
}

// pick returns the trial that has been waited for longest; nil if there is none.
func pick(c *source.Catalog, policies *lifecycle.Registry) *trial {
	var first *lifecycle.CheckResult
	var origin *source.Contents
	for _, id := range policies.Checked() {
		if v := policies.Get(id).Newest; v.TestsPending && (first == nil || v.Checked.Before(first.Checked)) {
			first, origin = v, c.Origins[id]
		}
	}
	if first == nil {
		return nil
	}
	out := &trial{origin: origin}
	for _, id := range policies.Checked() {
		if v := policies.Get(id).Newest; v.TestsPending && c.Origins[id] == origin {
			out.accused = append(out.accused, &accused{result: v, id: id, unit: v.Unit})
		}
	}
	return out
}

// try runs the tests of a trial.
func (j judge) try(ctx context.Context, t *trial) {
	ctx, cancel := context.WithTimeout(ctx, testPatience)
	defer cancel()
	for _, a := range t.accused {
		j.surviving(a.unit, &a.failed, func() { a.failed = j.tests(ctx, a.unit, t) })
	}
}

// settle stores the outcome of a trial.
func (j judge) settle(t *trial, policies *lifecycle.Registry) {
	for _, a := range t.accused {
		now := *a.result
		now.TestsPending = false
		if len(a.failed) > 0 {
			now.Plan, now.Problems = nil, slices.Concat(now.Problems, a.failed)
		}
		j.measure(a.id, &now)
		if policies.Get(a.id).Newest == a.result {
			policies.Check(a.id, &now)
		}
	}
}

// tests runs the tests beside a policy that concern it.
func (j judge) tests(ctx context.Context, u *source.Unit, t *trial) (failed []document.Problem) {
	if t.types == nil {
		t.types = j.typesOf(t.origin.Units)
	}
	report, err := policytest.RunEmbedded(ctx, policytest.Embedded{
		Tests: t.origin.Tests, Units: t.origin.Units, Subject: u, Schemas: t.types, Allowances: j.allowances, Rego: j.rego,
	})
	if err != nil {
		return []document.Problem{{Position: document.Position{File: t.origin.Path()}, Severity: document.Error, Message: fmt.Sprintf("the tests cannot be run: %v", err)}}
	}
	for _, c := range report.Cases {
		for _, f := range c.Failures {
			failed = append(failed, document.Problem{Position: c.At, Severity: document.Error, Message: fmt.Sprintf("the test %q fails: %s", c.Name, f)})
		}
	}
	return failed
}

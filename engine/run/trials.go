package run

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	*verdict
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
func (t *trials) next(ctx context.Context, c *source.Catalog, verdicts map[string]*verdict, goes func(func())) {
	if t.under != nil {
		if !t.under.matters(verdicts) {
			t.under.cancel() // the next begins when it has ended
		}
		return
	}
	next := pick(c, verdicts)
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
func (t *trials) end(done *trial) {
	done.cancel()
	t.under = nil
	t.judge.settle(done)
}

// matters reports whether somebody waits for the outcome.
func (t *trial) matters(verdicts map[string]*verdict) bool {
	return slices.ContainsFunc(t.accused, func(a *accused) bool { return verdicts[a.id] == a.verdict })
}

// pick returns the trial that has been waited for longest; nil if there is none.
func pick(c *source.Catalog, verdicts map[string]*verdict) *trial {
	var first *verdict
	var origin *source.Contents
	for _, id := range sortedKeys(verdicts) {
		if v := verdicts[id]; v.untested && (first == nil || v.at.Before(first.at)) {
			first, origin = v, c.Origins[id]
		}
	}
	if first == nil {
		return nil
	}
	out := &trial{origin: origin}
	for _, id := range sortedKeys(verdicts) {
		if v := verdicts[id]; v.untested && c.Origins[id] == origin {
			out.accused = append(out.accused, &accused{verdict: v, id: id, unit: v.unit})
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

// settle takes the outcome of a trial into the verdicts.
func (j judge) settle(t *trial) {
	for _, a := range t.accused {
		a.untested = false
		if len(a.failed) > 0 {
			a.plan, a.problems = nil, append(a.problems, a.failed...)
		}
		j.measure(a.id, a.verdict)
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

package run

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// judge says whether policies may run: the controller asks it before it adopts
// them, the webhook before they are stored.
type judge struct{ *process }

// verdict is what was found about one policy.
type verdict struct {
	revision
	problems []document.Problem
	// tests hashes the tests that were run.
	tests string
	// tested says that the policy was well but for its tests; stale that the
	// verdict is to be found anew.
	tested, stale bool
	// again says that it was found anew without an edit.
	again bool
}

// good says whether the policy may run.
func (v *verdict) good() bool { return v.plan != nil }

// disabled says whether the policy is not to run.
func (v *verdict) disabled() bool { return v.plan != nil && v.plan.Mode == plan.Disabled }

// all judges every policy of a catalog; of those that were judged before and
// have not changed the verdict stands. One that is bad disturbs no other.
func (j judge) all(ctx context.Context, c *source.Catalog, before map[string]*verdict) map[string]*verdict {
	out := map[string]*verdict{}
	times := patience{}
	for _, id := range sortedKeys(c.Units) {
		u, origin := c.Units[id], c.Origins[id]
		if v := before[id]; v != nil && v.stands(u, origin) {
			v.unit = u
			out[id] = v
			continue
		}
		out[id] = j.one(ctx, u, origin, times)
		if v := before[id]; v == nil || !v.stale || out[id].good() != v.good() {
			j.measure(id, out[id])
		} else {
			out[id].again = true
		}
	}
	return out
}

// stands says whether a verdict is still one about a policy.
func (v *verdict) stands(u *source.Unit, origin *source.Contents) bool {
	return !v.stale && v.unit.Same(u) && v.unit.File.Path == u.File.Path && v.tests == origin.TestsRevision() &&
		(len(v.problems) == 0 || bytes.Equal(v.unit.File.Text, u.File.Text)) // or else they stand in other lines
}

// measure counts a verdict, and says what is refused.
func (j judge) measure(id string, v *verdict) {
	if v.good() {
		return
	}
	observe.Reloads.WithLabelValues(id, "refused").Inc()
	why := ""
	if err := document.Join(v.problems); err != nil {
		why = value.Cut(err.Error(), maxText)
	}
	j.Log.Error("the policy is refused", observe.LogPolicy, id, "error", why, observe.LogRevision, v.unit.Revision())
}

// one judges a policy: its text, its types, its limits, and its tests.
func (j judge) one(ctx context.Context, u *source.Unit, origin *source.Contents, times patience) (v *verdict) {
	defer func() { // a policy must not take the others down
		if fault := recover(); fault != nil {
			j.Log.Error("a fault of the engine", observe.LogPolicy, u.Name(), "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			v = &verdict{revision: revision{unit: u}, tests: origin.TestsRevision(), problems: []document.Problem{{
				Position: u.Document.Pos, Severity: document.Error, Message: fmt.Sprintf("a fault of the engine: %v", fault)}}}
		}
	}()
	v = j.text(u)
	v.tests = origin.TestsRevision()
	if !v.good() || v.disabled() {
		return v
	}
	v.tested = true
	if failed := j.tests(ctx, u, origin, times); len(failed) > 0 {
		v.plan, v.problems = nil, append(v.problems, failed...)
	}
	return v
}

// text compiles a policy by the types of the cluster, as far as it serves the
// kinds.
func (j judge) text(u *source.Unit) *verdict {
	v := &verdict{revision: revision{unit: u}}
	p, problems, err := u.Compile(j.schemas)
	if err != nil {
		problems = append(problems, document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: err.Error()})
	}
	if p == nil {
		v.problems = problems
		return v
	}
	known, err := j.clusterSchemas(p)
	if err != nil {
		j.Log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, u.Name(), "error", err.Error())
	}
	if v.plan, v.problems, err = u.Compile(known); err != nil || v.plan == nil {
		return v
	}
	v.schemas, v.typed = known, j.missing(v.plan) == nil && unknown(known, v.plan) == nil
	j.runnable(v)
	return v
}

// runnable refuses what compiles and cannot run here.
func (j judge) runnable(v *verdict) {
	p := v.plan
	refuse := func(problem document.Problem) {
		problem.Severity = document.Error
		v.plan, v.problems = nil, append(v.problems, problem)
	}
	if p.Mode == plan.Disabled {
		return
	}
	for _, problem := range p.Unsupported {
		refuse(problem)
	}
}

// typesOf gives the types of all that some units read.
func (j judge) typesOf(units []*source.Unit) *schema.Set {
	out := schema.NewSet(j.schemas)
	for _, u := range units {
		p, _, err := u.Compile(j.schemas)
		if err != nil || p == nil {
			continue
		}
		if known, err := j.clusterSchemas(p); err == nil {
			out.AddAll(known)
		}
	}
	return out
}

// testPatience bounds the time for the tests of one ConfigMap.
const testPatience = 20 * time.Second

// patience is what is shared by the policies of a ConfigMap: until when their
// tests may run, and the types that they need.
type patience map[*source.Contents]*struct {
	until time.Time
	types *schema.Set
}

// tests runs the tests beside a policy that concern it.
func (j judge) tests(ctx context.Context, u *source.Unit, origin *source.Contents, times patience) (failed []document.Problem) {
	if len(origin.Tests) == 0 && !slices.ContainsFunc(u.Modules, rego.Module.IsTest) {
		return nil
	}
	if times[origin] == nil {
		times[origin] = &struct {
			until time.Time
			types *schema.Set
		}{time.Now().Add(testPatience), j.typesOf(origin.Units)}
	}
	ctx, cancel := context.WithDeadline(ctx, times[origin].until)
	defer cancel()
	report, err := policytest.RunEmbedded(ctx, policytest.Embedded{
		Tests: origin.Tests, Units: origin.Units, Subject: u, Schemas: times[origin].types, Allowances: j.allowances,
	})
	if err != nil {
		return []document.Problem{{Position: document.Position{File: origin.Path()}, Severity: document.Error, Message: fmt.Sprintf("the tests cannot be run: %v", err)}}
	}
	for _, c := range report.Cases {
		for _, f := range c.Failures {
			failed = append(failed, document.Problem{Position: c.At, Severity: document.Error, Message: fmt.Sprintf("the test %q fails: %s", c.Name, f)})
		}
	}
	return failed
}

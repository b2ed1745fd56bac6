package run

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// judge reports whether policies may run: the controller asks it before it adopts
// them, the webhook before they are stored.
type judge struct {
	*process
	// admitting makes a warning of an allowance that lacks: who installs a policy
	// gives it by replacing this process, and the ConfigMap comes first.
	admitting bool
}

// all checks every policy of a catalog, but for its tests, and stores the results;
// of those that were checked before and have not changed the result stays. One
// that is bad disturbs no other.
func (j judge) all(c *source.Catalog, policies *lifecycle.Registry, about func(u *source.Unit) *document.Problem) {
	for _, id := range policies.Checked() {
		if c.Units[id] == nil {
			policies.Unread(id)
		}
	}
	for _, id := range sortedKeys(c.Units) {
		u, origin, before := c.Units[id], c.Origins[id], policies.Get(id).Newest
		if before != nil && stands(before, u, origin) {
			policies.Move(id, u)
			continue
		}
		now := j.unless(about(u), u, origin)
		if before != nil && before.Recheck == lifecycle.RecheckDue && (now.Plan != nil) == before.Good() {
			now.Recheck = lifecycle.Rechecked
		} else {
			j.measure(id, now)
		}
		policies.Check(id, now)
	}
}

// stands reports whether a result is still one of the present text of a policy.
func stands(v *lifecycle.CheckResult, u *source.Unit, origin *source.Contents) bool {
	return v.Recheck != lifecycle.RecheckDue && v.Unit.Same(u) && v.Unit.File.Path == u.File.Path && v.Tests == origin.TestsRevision() &&
		(len(v.Problems) == 0 || bytes.Equal(v.Unit.File.Text, u.File.Text)) // or else they are in other lines
}

// measure counts a verdict, and says what is refused.
func (j judge) measure(id string, v *lifecycle.CheckResult) {
	if v.Plan != nil || v.Disabled() {
		return
	}
	observe.Reloads.WithLabelValues(id, "refused").Inc()
	why := ""
	if err := document.Join(v.Problems); err != nil {
		why = value.Cut(err.Error(), maxText)
	}
	j.Log.Error("the policy is refused", observe.LogPolicy, id, "error", why, observe.LogRevision, v.Unit.Revision())
}

// unless judges a policy that nothing speaks against beforehand.
func (j judge) unless(problem *document.Problem, u *source.Unit, origin *source.Contents) *lifecycle.CheckResult {
	if problem == nil {
		return j.one(u, origin)
	}
	return &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u}, Problems: []document.Problem{*problem}, Tests: origin.TestsRevision(), Checked: time.Now()}
}

// one judges a policy: its text, its types and its limits. Its tests, if it has
// some, are still to be run.
func (j judge) one(u *source.Unit, origin *source.Contents) *lifecycle.CheckResult {
	v := j.text(u)
	v.Tests, v.Checked = origin.TestsRevision(), time.Now()
	v.TestsPending = v.Good() && hasTests(u, origin)
	v.Compiled = v.Plan != nil
	return v
}

// text judges a policy without its tests. One that is disabled is not compiled:
// it has no effect, whatever its text is.
func (j judge) text(u *source.Unit) *lifecycle.CheckResult {
	v := &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u}}
	if u.Disabled() {
		v.Problems = u.Unread
		return v
	}
	var fault []document.Problem
	j.surviving(u, &fault, func() { j.compile(v) })
	if len(fault) > 0 {
		v.Plan, v.Problems = nil, fault
	}
	return v
}

// surviving makes a fault of the engine one of the policy that led to it: a
// policy must not take the others down.
func (j judge) surviving(u *source.Unit, problems *[]document.Problem, do func()) {
	defer func() {
		if fault := recover(); fault != nil {
			j.Log.Error("internal error (panic)", observe.LogPolicy, u.Name(), "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			*problems = []document.Problem{{Position: u.Document.Pos, Severity: document.Error, Message: fmt.Sprintf("internal error (panic): %v", fault)}}
		}
	}()
	do()
}

// compile compiles a policy by the types of the cluster, as far as it serves
// the kinds.
func (j judge) compile(v *lifecycle.CheckResult) {
	u := v.Unit
	p, problems, err := u.Compile(j.schemas, j.rego)
	if err != nil {
		problems = append(problems, document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: err.Error()})
	}
	if p == nil {
		v.Problems = problems
		return
	}
	known, err := j.clusterSchemas(p)
	if err != nil {
		j.Log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, u.Name(), "error", err.Error())
	}
	if v.Plan, v.Problems, err = u.Compile(known, j.rego); err != nil || v.Plan == nil {
		return
	}
	if lacks := j.lacks(v.Plan, u); len(lacks) > 0 {
		v.Problems = append(v.Problems, lacks...)
		if !j.admitting {
			v.Plan = nil
			return
		}
	}
	v.Schemas, v.Typed = known, j.missing(v.Plan) == nil && unknown(known, v.Plan) == nil
}

// lacks returns the errors about allowances that a policy lacks, as far as its
// text tells.
func (j judge) lacks(p *plan.Policy, u *source.Unit) (out []document.Problem) {
	if p.Mode == plan.Disabled {
		return nil
	}
	text := document.NewSource(u.File.Path, u.File.Text)
	for _, problem := range guard.Problems(j.guard.Lacks(p)) {
		if j.admitting {
			problem.Severity = document.Warning
		}
		if problem.File == u.File.Path {
			problem.Source = text.Line(problem.Line)
		}
		out = append(out, problem)
	}
	return out
}

// typesOf returns the types of all that some units read.
func (j judge) typesOf(units []*source.Unit) *schema.Set {
	out := schema.NewSet(j.schemas)
	for _, u := range units {
		p, _, err := u.Compile(j.schemas, j.rego)
		if err != nil || p == nil {
			continue
		}
		if known, err := j.clusterSchemas(p); err == nil {
			out.AddAll(known)
		}
	}
	return out
}

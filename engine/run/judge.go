package run

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"time"

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

// verdict is what was found about one policy.
type verdict struct {
	revision
	problems []document.Problem
	// tests hashes the tests beside the policy. Untested says that they have
	// still to be run; until then the policy may not run.
	tests    string
	untested bool
	// at is when the text was judged.
	at time.Time
	// tested says that the policy was well but for its tests; stale that the
	// verdict is to be found anew.
	tested, stale bool
	// again says that it was found anew without an edit.
	again bool
}

// good reports whether the policy may run.
func (v *verdict) good() bool { return v.plan != nil && !v.untested }

// disabled reports whether the policy is not to run.
func (v *verdict) disabled() bool { return v.unit.Disabled() && len(v.problems) == 0 }

// all judges every policy of a catalog, but for its tests; of those that were
// judged before and have not changed the verdict stands. One that is bad
// disturbs no other.
func (j judge) all(c *source.Catalog, before map[string]*verdict, about func(u *source.Unit) *document.Problem) map[string]*verdict {
	out := map[string]*verdict{}
	for _, id := range sortedKeys(c.Units) {
		u, origin := c.Units[id], c.Origins[id]
		if v := before[id]; v != nil && v.stands(u, origin) {
			v.unit = u
			out[id] = v
			continue
		}
		now := j.unless(about(u), u, origin)
		if v := before[id]; v != nil && v.stale && (now.plan != nil) == v.good() {
			now.again = true
		} else {
			j.measure(id, now)
		}
		out[id] = now
	}
	return out
}

// stands reports whether a verdict is still one about a policy.
func (v *verdict) stands(u *source.Unit, origin *source.Contents) bool {
	return !v.stale && v.unit.Same(u) && v.unit.File.Path == u.File.Path && v.tests == origin.TestsRevision() &&
		(len(v.problems) == 0 || bytes.Equal(v.unit.File.Text, u.File.Text)) // or else they stand in other lines
}

// measure counts a verdict, and says what is refused.
func (j judge) measure(id string, v *verdict) {
	if v.plan != nil || v.disabled() {
		return
	}
	observe.Reloads.WithLabelValues(id, "refused").Inc()
	why := ""
	if err := document.Join(v.problems); err != nil {
		why = value.Cut(err.Error(), maxText)
	}
	j.Log.Error("the policy is refused", observe.LogPolicy, id, "error", why, observe.LogRevision, v.unit.Revision())
}

// unless judges a policy that nothing speaks against beforehand.
func (j judge) unless(problem *document.Problem, u *source.Unit, origin *source.Contents) *verdict {
	if problem == nil {
		return j.one(u, origin)
	}
	return &verdict{revision: revision{unit: u}, problems: []document.Problem{*problem}, tests: origin.TestsRevision(), at: time.Now()}
}

// one judges a policy: its text, its types and its limits. Its tests, if it has
// some, are still to be run.
func (j judge) one(u *source.Unit, origin *source.Contents) *verdict {
	v := j.text(u)
	v.tests, v.at = origin.TestsRevision(), time.Now()
	v.untested = v.good() && hasTests(u, origin)
	v.tested = v.plan != nil
	return v
}

// text judges a policy without its tests. One that is disabled is not compiled:
// it has no effect, whatever its text is.
func (j judge) text(u *source.Unit) *verdict {
	v := &verdict{revision: revision{unit: u}}
	if u.Disabled() {
		v.problems = u.Unread
		return v
	}
	var fault []document.Problem
	j.surviving(u, &fault, func() { j.compile(v) })
	if len(fault) > 0 {
		v.plan, v.problems = nil, fault
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
func (j judge) compile(v *verdict) {
	u := v.unit
	p, problems, err := u.Compile(j.schemas, j.rego)
	if err != nil {
		problems = append(problems, document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: err.Error()})
	}
	if p == nil {
		v.problems = problems
		return
	}
	known, err := j.clusterSchemas(p)
	if err != nil {
		j.Log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, u.Name(), "error", err.Error())
	}
	if v.plan, v.problems, err = u.Compile(known, j.rego); err != nil || v.plan == nil {
		return
	}
	if lacks := j.lacks(v.plan, u); len(lacks) > 0 {
		v.problems = append(v.problems, lacks...)
		if !j.admitting {
			v.plan = nil
			return
		}
	}
	v.schemas, v.typed = known, j.missing(v.plan) == nil && unknown(known, v.plan) == nil
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

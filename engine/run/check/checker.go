// Package check decides which policies may run: it compiles them by the types of the
// cluster and runs the tests beside them.
package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// Checker decides which policies may run: the controller calls it before it assigns
// them, the webhook before they are stored.
type Checker struct {
	kinds    *discovery.Kinds
	judge    *Judge
	compiler *source.Compiler
	guard    func() guard.Guard
	log      *slog.Logger
	// admitting makes a missing allowance a warning: another object has it, which may come later.
	admitting bool
}

// Allowing returns a Checker that also takes the allowances of a set as given.
func (c *Checker) Allowing(set *source.Set) *Checker {
	out, before := *c, c.guard
	out.guard = func() guard.Guard {
		g := before()
		g.Allowed, g.Closed = slices.Clip(g.Allowed), slices.Clip(g.Closed)
		g.Add(set.Name, set.Pinned(), set.Allowances())
		return g
	}
	return &out
}

// Options are what a Checker needs.
type Options struct {
	Kinds *discovery.Kinds
	// Judge has the tests of new texts run elsewhere, Compiler compiles them. Nil is for tests.
	Judge    *Judge
	Compiler *source.Compiler
	// Guard returns the allowances of the policies.
	Guard func() guard.Guard
	Log   *slog.Logger
	// Admitting makes a missing allowance a warning.
	Admitting bool
}

// New returns a Checker.
func New(o Options) *Checker {
	if o.Judge == nil {
		o.Judge = &Judge{tests: Services()[testsService]}
	}
	if o.Compiler == nil {
		o.Compiler = source.NewCompiler(nil, nil)
	}
	return &Checker{kinds: o.Kinds, judge: o.Judge, compiler: o.Compiler, guard: o.Guard, log: o.Log, admitting: o.Admitting}
}

// All checks every policy of a catalog, except for its tests, and stores the results.
// The result of a policy that has not changed stays. What was in force has its room in memory
// first.
func (c *Checker) All(ctx context.Context, catalog *source.Catalog, policies *lifecycle.Registry, inForce func(id string, u *source.Unit) bool) {
	for _, id := range policies.Checked() {
		if catalog.Units[id] == nil {
			policies.Unread(id)
		}
	}
	room := newRoom(catalog, policies)
	for _, id := range room.order(inForce) {
		u, origin, before := catalog.Units[id], catalog.Origins[id], policies.Get(id).Newest
		if before != nil && upToDate(before, u, origin) {
			policies.Move(id, u)
			if now := room.fit(id, before); now != before {
				policies.Check(id, now)
			}
			continue
		}
		now := room.closed(id, u)
		if now == nil {
			now = room.fit(id, c.check(ctx, u, origin))
		} else {
			now.Tests, now.Checked = origin.TestsRevision(), time.Now()
		}
		if before != nil && before.Recheck == lifecycle.RecheckDue && (now.Plan != nil) == before.Good() {
			now.Recheck = lifecycle.Rechecked
		} else {
			c.count(id, now)
		}
		policies.Check(id, now)
	}
	room.measure()
}

// upToDate reports whether a result is one of the present text of a policy.
func upToDate(v *lifecycle.CheckResult, u *source.Unit, origin *source.Contents) bool {
	return v.Recheck != lifecycle.RecheckDue && v.Unit.Same(u) && v.Unit.File.Path == u.File.Path && v.Tests == origin.TestsRevision() &&
		(len(v.Problems) == 0 || bytes.Equal(v.Unit.File.Text, u.File.Text)) // or else they are in other lines
}

// count counts and logs a refusal.
func (c *Checker) count(id string, v *lifecycle.CheckResult) {
	if v.Plan != nil || v.Disabled() {
		return
	}
	observe.Reloads.WithLabelValues(id, "refused").Inc()
	why := ""
	if err := document.Join(v.Problems); err != nil {
		why = value.Cut(err.Error(), source.MaxText)
	}
	c.log.Error("the policy is refused", observe.LogPolicy, id, "error", why, observe.LogRevision, v.Unit.Revision())
}

// check checks a policy: its text, its types and its limits. Its tests, if it has
// some, still have to run.
func (c *Checker) check(ctx context.Context, u *source.Unit, origin *source.Contents) *lifecycle.CheckResult {
	v := c.Text(ctx, u)
	v.Tests, v.Checked = origin.TestsRevision(), time.Now()
	v.TestsPending = v.Good() && (len(origin.Tests) > 0 || slices.ContainsFunc(u.Modules, rego.Module.IsTest))
	if v.Plan != nil {
		v.Compiled, v.Kept = true, v.Plan.Kept
	}
	return v
}

// Text checks a policy without its tests. One that is disabled is not compiled: it has
// no effect, whatever its text is.
func (c *Checker) Text(ctx context.Context, u *source.Unit) *lifecycle.CheckResult {
	v := &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u}}
	if u.Disabled() {
		v.Problems = u.Unread
		return v
	}
	var fault []document.Problem
	c.recovering(u, &fault, func() { c.compile(ctx, v) })
	if len(fault) > 0 {
		v.Plan, v.Problems = nil, fault
	}
	return v
}

// recovering makes a panic a problem of the policy that led to it: a policy must not
// stop the others.
func (c *Checker) recovering(u *source.Unit, problems *[]document.Problem, do func()) {
	defer func() {
		if fault := recover(); fault != nil {
			c.log.Error("internal error (panic)", observe.LogPolicy, u.Name(), "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			*problems = []document.Problem{{Position: u.Document.Pos, Severity: document.Error, Message: fmt.Sprintf("internal error (panic): %v", fault)}}
		}
	}()
	do()
}

// compile compiles a policy by the types of the cluster, as far as it serves
// the kinds.
func (c *Checker) compile(ctx context.Context, v *lifecycle.CheckResult) {
	u := v.Unit
	p, problems := c.compiled(ctx, u, c.kinds.Known())
	if p == nil {
		// The cluster was not asked yet for the types of its kinds.
		v.Problems = slices.DeleteFunc(problems, func(p document.Problem) bool { return p.Code == document.UnknownSchema })
		return
	}
	known, err := c.kinds.Schemas(p)
	if err != nil {
		c.log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, u.Name(), "error", err.Error())
	}
	if v.Plan, v.Problems = c.compiled(ctx, u, known); v.Plan == nil {
		return
	}
	if lacks := c.lacks(v.Plan, u); len(lacks) > 0 {
		v.Problems = append(v.Problems, lacks...)
		if !c.admitting {
			v.Lacks = true
			v.Compiled, v.Plan = c.typed(v.Plan, known), nil // by other types it may lack others
			return
		}
	}
	v.Schemas, v.Typed = known, c.typed(v.Plan, known)
}

// compiled compiles a policy. That it could not be tried is a warning to who stores it: the
// controller will try it.
func (c *Checker) compiled(ctx context.Context, u *source.Unit, known *schema.Set) (*plan.Policy, []document.Problem) {
	p, problems, err := c.compiler.Compile(ctx, u, known)
	if err != nil {
		problem := document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: err.Error()}
		if c.admitting && !errors.Is(err, source.ErrLimit) {
			problem.Severity = document.Warning
		}
		problems = append(problems, problem)
	}
	return p, problems
}

// Typed reports whether the cluster serves the kinds of a policy now, and publishes their
// types.
func (c *Checker) Typed(p *plan.Policy) bool {
	known, err := c.kinds.Schemas(p)
	return err == nil && c.typed(p, known)
}

func (c *Checker) typed(p *plan.Policy, known *schema.Set) bool {
	return c.kinds.Missing(p) == nil && discovery.Unpublished(known, p) == nil
}

// lacks returns the errors about allowances that a policy lacks, as far as its text
// shows.
func (c *Checker) lacks(p *plan.Policy, u *source.Unit) (out []document.Problem) {
	if p.Mode == plan.Disabled {
		return nil
	}
	text := document.NewSource(u.File.Path, u.File.Text)
	g := c.guard()
	for _, problem := range guard.Problems(g.Lacks(p)) {
		if c.admitting {
			problem.Severity = document.Warning
		}
		if problem.File == u.File.Path {
			problem.Source = text.Line(problem.Line)
		}
		out = append(out, problem)
	}
	return out
}

// typesOf returns the types of all that some units read, and those that met a limit.
func (c *Checker) typesOf(ctx context.Context, units []*source.Unit) (out *schema.Set, refused []string) {
	out = schema.NewSet(c.kinds.Known())
	for _, u := range units {
		p, _, err := c.compiler.Compile(ctx, u, c.kinds.Known())
		if err != nil {
			refused = append(refused, u.ID())
		}
		if p == nil {
			continue
		}
		if known, err := c.kinds.Schemas(p); err == nil {
			out.Join(known)
		}
	}
	return out, refused
}

package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/source"
)

// unit returns a policy with a text.
func unit(text string) *source.Unit {
	doc := &v1alpha1.Policy{Node: &document.Node{}}
	doc.Metadata.Name.Value = text
	return &source.Unit{Document: doc, File: load.Source{Path: "ns/m/p.yaml", Text: []byte(text)}}
}

// good returns the result of checking a text that may run.
func good(text string) *CheckResult {
	u := unit(text)
	return &CheckResult{Revision: Revision{Unit: u, Plan: &plan.Policy{Revision: u.Revision()}}, Compiled: true}
}

func pending(text string) *CheckResult {
	r := good(text)
	r.TestsPending = true
	return r
}

func bad(text string) *CheckResult {
	return &CheckResult{Revision: Revision{Unit: unit(text)}, Problems: []document.Problem{{Severity: document.Error, Message: "wrong"}}}
}

func disabled(text string) *CheckResult {
	r := &CheckResult{Revision: Revision{Unit: unit(text)}}
	r.Unit.Mode = string(plan.Disabled)
	return r
}

// TestLifecycleOfAnEdit follows policies through the usual edits.
func TestLifecycleOfAnEdit(t *testing.T) {
	t.Parallel()
	const id = "p"
	now := time.Unix(0, 0)
	check := func(c *CheckResult) func(*Registry) { return func(r *Registry) { r.Check(id, c) } }
	a, b, typed := good("a"), good("b"), good("a")
	typed.Typed = true
	assign := func(c *CheckResult) func(*Registry) {
		return func(r *Registry) { r.Check(id, c); r.Assign(id, &c.Revision, false) }
	}
	report := func(e Event, c *CheckResult) func(*Registry) {
		return func(r *Registry) {
			inForce := ""
			if c != nil {
				inForce = c.Unit.Revision()
			}
			r.Report(id, r.Ticket(id), Report{Event: e, InForce: inForce}, now)
		}
	}
	stop := func(r *Registry) { r.Unread(id); r.Stop(id) }
	end := func(r *Registry) { r.End(id, r.Ticket(id)) }
	for name, tc := range map[string]struct {
		steps []func(*Registry)
		want  Phase
	}{
		"tests, then it runs":               {[]func(*Registry){check(pending("a")), assign(a), report(Activated, a)}, Running},
		"tests of an edit":                  {[]func(*Registry){assign(a), report(Activated, a), check(pending("b"))}, Testing},
		"it waits":                          {[]func(*Registry){assign(a), report(Blocked, nil)}, Waiting},
		"an edit waits":                     {[]func(*Registry){assign(a), report(Activated, a), assign(b), report(Blocked, a)}, Waiting},
		"an edit is loaded":                 {[]func(*Registry){assign(a), report(Activated, a), assign(b)}, Loading},
		"an edit that does not fit":         {[]func(*Registry){assign(a), report(Activated, a), assign(b), report(Failed, a)}, Refused},
		"broken":                            {[]func(*Registry){assign(a), report(Activated, a), check(bad("b"))}, Refused},
		"broken and corrected":              {[]func(*Registry){assign(a), report(Activated, a), check(bad("b")), assign(a)}, Running},
		"it waits, broken and corrected":    {[]func(*Registry){assign(a), report(Blocked, nil), check(bad("b")), assign(a)}, Waiting},
		"it does not fit, and fits now":     {[]func(*Registry){assign(a), report(Failed, nil), check(bad("a")), assign(typed)}, Loading},
		"it fails with the types":           {[]func(*Registry){assign(typed), report(Failed, nil), check(bad("a")), assign(typed)}, Refused},
		"refused, another, broken and back": {[]func(*Registry){assign(a), report(Failed, nil), assign(b), check(bad("c")), assign(b)}, Loading},
		"broken, the last good one runs":    {[]func(*Registry){check(bad("b")), func(r *Registry) { r.Assign(id, &a.Revision, true) }, report(Activated, a)}, Refused},
		"disabled":                          {[]func(*Registry){assign(a), report(Activated, a), check(disabled("a")), func(r *Registry) { r.Stop(id) }}, Disabled},
		"disabled, and has ended":           {[]func(*Registry){assign(a), report(Activated, a), check(disabled("a")), func(r *Registry) { r.Stop(id) }, end}, Disabled},
		"disabled, then deleted":            {[]func(*Registry){assign(a), check(disabled("a")), func(r *Registry) { r.Stop(id) }, end, stop}, Stopped},
		"deleted":                           {[]func(*Registry){assign(a), report(Activated, a), stop}, Stopping},
		"deleted, and has ended":            {[]func(*Registry){assign(a), report(Activated, a), stop, end}, Stopped},
		"deleted and made again":            {[]func(*Registry){assign(a), report(Activated, a), stop, assign(a)}, Loading},
		"refused, then deleted":             {[]func(*Registry){check(bad("a")), stop}, Stopped},
		"unreadable":                        {[]func(*Registry){assign(a), report(Activated, a), func(r *Registry) { r.Unread(id) }}, Running},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewRegistry()
			r.Illegal = func(err error) { t.Error(err) }
			for _, step := range tc.steps {
				step(r)
			}
			if got := r.Get(id).Phase; got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestLifecycleOfAnEarlierController: what it reports after its policy was made
// again changes nothing.
func TestLifecycleOfAnEarlierController(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	a := good("a")
	r.Check("p", a)
	r.Assign("p", &a.Revision, false)
	earlier := r.Ticket("p")
	r.Unread("p")
	r.Stop("p")
	r.Check("p", a)
	r.Assign("p", &a.Revision, false)
	r.End("p", earlier)
	if r.Report("p", earlier, Report{Event: Activated, InForce: "x"}, time.Now()) || r.Get("p").Phase != Loading || r.Get("p").Report.InForce != "" {
		t.Errorf("%+v", r.Get("p"))
	}
}

// controller reports as those of run do: first that it waits, if it does, and then
// how it ended.
type controller struct {
	id      string
	ticket  Ticket
	rev     *Revision
	inForce string
	done    bool
	stopped bool
}

// random drives a registry as a process does, in an order that a seed chooses.
type random struct {
	*rand.Rand
	registry    *Registry
	controllers []*controller
}

func (d *random) text() *CheckResult {
	text := fmt.Sprint(d.IntN(3))
	return []func(string) *CheckResult{good, good, pending, bad, disabled}[d.IntN(5)](text)
}

// look does what the ConfigMaps lead to: a text is checked, and assigned, or the
// policy stopped.
func (d *random) look(id string) {
	switch p := d.registry.Get(id); d.IntN(5) {
	case 0:
		d.registry.Unread(id)
		d.stop(id)
	case 1:
		if v := p.Newest; v != nil && v.TestsPending {
			d.registry.Check(id, []func(string) *CheckResult{good, bad}[d.IntN(2)](string(v.Unit.File.Text)))
		}
	case 2:
		if p.Newest != nil && p.Newest.Plan == nil && !p.Newest.Disabled() {
			d.assign(id, &good("last good").Revision)
		}
	default:
		d.registry.Check(id, d.text())
	}
	switch v := d.registry.Get(id).Newest; {
	case v == nil:
	case v.Disabled():
		d.stop(id)
	case v.Good():
		rev := v.Revision
		if d.IntN(4) == 0 {
			rev.Staged = &Staged{From: &good("last good").Revision, Spec: &rollout.Spec{Steps: []rollout.Step{{Percent: 50}}}}
		}
		d.assign(id, &rev)
	}
}

func (d *random) assign(id string, rev *Revision) {
	if d.registry.Assign(id, rev, d.IntN(2) == 0) {
		last := &controller{}
		for _, c := range d.controllers {
			if c.id == id && !c.stopped {
				last = c
			}
		}
		d.controllers = append(d.controllers, &controller{id: id, ticket: d.registry.Ticket(id), rev: rev, inForce: last.inForce})
	}
}

func (d *random) stop(id string) {
	d.registry.Stop(id)
	for _, c := range d.controllers {
		c.stopped = c.stopped || c.id == id
	}
}

// report lets some attempt of a controller report, also one that is out of date.
func (d *random) report() {
	if len(d.controllers) == 0 {
		return
	}
	c := d.controllers[d.IntN(len(d.controllers))]
	if c.done {
		return
	}
	switch d.IntN(4) {
	case 0:
		d.registry.Report(c.id, c.ticket, Report{Event: Blocked, InForce: c.inForce}, time.Time{})
		return
	case 1:
		d.registry.Report(c.id, c.ticket, Report{Event: Failed, InForce: c.inForce}, time.Time{})
	default:
		if staged := c.rev.Staged; staged != nil {
			c.inForce = staged.From.Plan.Revision
			d.registry.Report(c.id, c.ticket, Report{Event: Begun, InForce: c.inForce}, time.Time{})
			break
		}
		c.inForce = c.rev.Plan.Revision
		d.registry.Report(c.id, c.ticket, Report{Event: Activated, InForce: c.inForce}, time.Time{})
	}
	c.done = true
	if c.stopped {
		d.registry.End(c.id, c.ticket)
	}
}

// invariants reports what must never be.
func invariants(p *Policy) string {
	switch {
	case p.Phase == Running && (p.Assigned == nil || p.Assigned.Plan == nil || p.Report.InForce != p.Assigned.Plan.Revision):
		return "it is Running without a plan in force"
	case p.Phase == Running && p.Newest != nil && !p.RunsNewest():
		return "it is Running, and its newest text is not in force"
	case p.Phase == RollingOut && (p.Assigned == nil || p.Assigned.Staged == nil || p.RunsNewest()):
		return "it is RollingOut without steps"
	case (p.Phase == Loading || p.Phase == Waiting) && p.Assigned == nil:
		return "no controller has what is loaded"
	case (p.Phase == Stopped || p.Phase == Unknown) && (p.Assigned != nil || p.Report != (Report{}) || p.Newest != nil):
		return "something is left of a policy that has stopped"
	case p.Phase == Testing && (p.Newest == nil || !p.Newest.TestsPending):
		return "it is Testing without tests"
	case p.Phase == Disabled && (p.Newest == nil || !p.Newest.Disabled() || p.Assigned != nil):
		return "it is Disabled and runs"
	case p.Newest != nil && p.Newest.Plan == nil && !p.Newest.Disabled() && p.Phase != Refused:
		return "its text is refused, and its phase is " + string(p.Phase)
	default:
		return ""
	}
}

// TestLifecycleInvariants: no order of events is illegal, and none leads to a state
// that must not be.
func TestLifecycleInvariants(t *testing.T) {
	t.Parallel()
	phases := map[Phase]int{}
	for seed := range uint64(300) {
		d := &random{Rand: rand.New(rand.NewPCG(seed, 1)), registry: NewRegistry()}
		d.registry.Illegal = func(err error) { t.Errorf("seed %d: %v", seed, err) }
		generation := uint64(0)
		for step := range 80 {
			id := fmt.Sprint("p", d.IntN(2))
			if d.IntN(2) == 0 {
				d.look(id)
			} else {
				d.report()
			}
			p := d.registry.Get(id)
			if wrong := invariants(&p); wrong != "" {
				t.Fatalf("seed %d, step %d: %s: %+v", seed, step, wrong, p)
			}
			newest := max(d.registry.Get("p0").Generation, d.registry.Get("p1").Generation)
			if newest < generation {
				t.Fatalf("seed %d, step %d: the generation fell", seed, step)
			}
			generation = newest
			phases[p.Phase]++
		}
	}
	for _, phase := range allPhases {
		if phases[phase] == 0 {
			t.Errorf("no order led to %q", phase)
		}
	}
}

// TestFound: what was found by the types of the cluster is that of the newest text only,
// and a result that others may read stays as it is.
func TestFound(t *testing.T) {
	t.Parallel()
	stale := []document.Problem{{Severity: document.Warning, Message: "untyped"}}
	untyped := func() *CheckResult { v := good("a"); v.Problems = stale; return v }
	typed, moved := untyped(), untyped()
	typed.Typed, moved.Unit.File.Path = true, "ns/m/q.yaml"
	for name, tc := range map[string]struct {
		newest *CheckResult
		want   int
	}{"the newest": {untyped(), 0}, "another text": {&CheckResult{Revision: good("b").Revision, Problems: stale}, 1}, "in another file": {moved, 1}, "checked with them": {typed, 1}, "refused": {bad("a"), 1}, "gone": {nil, 0}} {
		r := NewRegistry()
		if tc.newest != nil {
			r.Check("p", tc.newest)
		}
		r.Found("p", unit("a"), nil)
		if v := r.Get("p").Newest; tc.newest != nil && (len(v.Problems) != tc.want || len(tc.newest.Problems) != 1) {
			t.Errorf("%s: %v, at first %v", name, v.Problems, tc.newest.Problems)
		}
	}
}

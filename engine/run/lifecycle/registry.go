package lifecycle

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// Registry holds the state of all policies by ID. Its methods may be called from
// several goroutines.
type Registry struct {
	// Illegal is called with every event that the table of transitions does not have;
	// nil ignores them.
	Illegal func(error)

	mu         sync.Mutex
	policies   map[string]*Policy
	generation uint64
	// runs numbers the controllers.
	runs uint64
	// activated are the revisions that came into force and were not taken yet.
	activated []*Revision
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{policies: map[string]*Policy{}} }

// Get returns the state of a policy; of one that was never read the zero value.
func (r *Registry) Get(id string) Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.policies[id]; p != nil {
		return *p
	}
	return Policy{}
}

// Checked returns the IDs of the policies that have a text, in order.
func (r *Registry) Checked() []string {
	return r.ids(func(p *Policy) bool { return p.Newest != nil })
}

// AssignedIDs returns the IDs of the policies whose controller has a revision, in
// order.
func (r *Registry) AssignedIDs() []string {
	return r.ids(func(p *Policy) bool { return p.Assigned != nil })
}

func (r *Registry) ids(chosen func(*Policy) bool) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.policies)) {
		if chosen(r.policies[id]) {
			out = append(out, id)
		}
	}
	return out
}

// Check stores the result of checking the newest text.
func (r *Registry) Check(id string, result *CheckResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policy(id)
	if p.Newest != result {
		r.generation++
		p.Generation = r.generation
	}
	p.Newest = result
	if event := result.event(); event != "" {
		r.fire(id, p, event)
	}
}

// Unread forgets the newest text of a policy: it is gone or cannot be read. What
// is assigned goes on.
func (r *Registry) Unread(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.Newest == nil {
		return
	}
	p.Newest = nil
	if p.Assigned != nil {
		r.restore(id, p)
		return
	}
	r.fire(id, p, Removed)
	if p.ticket.run == 0 { // no controller is left
		r.fire(id, p, Ended)
	}
}

// Ticket identifies an assignment in the reports of a controller.
type Ticket struct{ run, generation uint64 }

// Assign stores the revision that the controller of a policy is to run, and
// reports whether it must be given it. If the controller has it already, its last
// report counts. Starts makes readiness depend on the controller's first report.
func (r *Registry) Assign(id string, revision *Revision, starts bool) (isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policy(id)
	if p.has(revision) {
		moved := *p.Assigned
		moved.Unit = revision.Unit // its file may be another one
		p.Assigned = &moved
		if p.assignsNewest(revision) {
			r.restore(id, p)
		}
		return false
	}
	if p.ticket.run == 0 || p.stopping {
		r.runs++
		p.ticket.run, p.stopping = r.runs, false
		p.Report, p.Since = Report{}, time.Time{}
	}
	r.generation++
	p.Generation, p.ticket.generation = r.generation, r.generation
	p.Assigned, p.starts = revision, p.starts || starts
	event := Assigned
	if !p.assignsNewest(revision) {
		event = Substituted
	}
	r.fire(id, p, event)
	return true
}

// Ticket returns the ticket of the last assignment of a policy.
func (r *Registry) Ticket(id string) Ticket {
	p := r.Get(id)
	return p.ticket
}

// restore sets the phase of an assigned revision again, after the text was another
// one meanwhile: by what the controller last reported of it.
func (r *Registry) restore(id string, p *Policy) {
	if p.Phase == Loading || p.Phase == Waiting || p.Phase == RollingOut || p.Phase == Running {
		return
	}
	r.fire(id, p, Assigned)
	if p.reported == p.ticket.generation && p.Report.Event != "" {
		r.fire(id, p, p.Report.Event)
	}
}

// Report stores what a controller reports, and returns whether that is new. Only a
// report of the present assignment changes the phase; one of an earlier controller
// of the policy, or that is older than the last, changes nothing.
func (r *Registry) Report(id string, ticket Ticket, report Report, now time.Time) (isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.ticket.run != ticket.run || ticket.generation < p.reported {
		return false
	}
	if report.InForce != p.Report.InForce {
		p.Since = now
	}
	isNew = p.Report != report
	p.Report, p.reported = report, ticket.generation
	p.starts = false
	if ticket == p.ticket {
		r.fire(id, p, report.Event)
	}
	return isNew
}

// FellBack stores that the fallback of a revision came into force. What the
// controller waits for stays the same.
func (r *Registry) FellBack(id string, ticket Ticket, inForce string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.policies[id]; p != nil && p.ticket.run == ticket.run {
		p.Report.InForce, p.Since = inForce, now
	}
}

// Activate stores that a revision came into force, so that it is taken even if the
// next replaces it at once.
func (r *Registry) Activate(revision *Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if revision.Catalog != nil {
		r.activated = append(r.activated, revision)
	}
}

// TakeActivated returns the revisions of ConfigMaps that came into force since the
// last call.
func (r *Registry) TakeActivated() []*Revision {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.activated
	r.activated = nil
	return out
}

// Stop stores that the controller of a policy is told to stop.
func (r *Registry) Stop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.Assigned == nil {
		return
	}
	p.Assigned, p.stopping, p.starts = nil, true, false
	if p.Newest == nil {
		r.fire(id, p, Removed)
	}
}

// End stores that a controller has ended.
func (r *Registry) End(id string, ticket Ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || ticket.run == 0 || p.ticket.run != ticket.run {
		return
	}
	p.Report, p.Since, p.ticket = Report{}, time.Time{}, Ticket{}
	r.fire(id, p, Ended)
}

// Recheck has the newest text of a policy checked again without an edit.
func (r *Registry) Recheck(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.policies[id]; p != nil && p.Newest != nil {
		p.Newest.Recheck = RecheckDue
	}
}

// Found stores what was found in a text by the types of the cluster, in place of what was
// found in it without them. It does not if the text is no longer the newest.
func (r *Registry) Found(id string, u *source.Unit, problems []document.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.Newest == nil || !p.Newest.Good() || p.Newest.Typed || !p.Newest.Unit.Same(u) || !p.Newest.Unit.SamePlace(u) {
		return
	}
	now := *p.Newest // others may read the result
	now.Problems = problems
	p.Newest = &now
}

// Move stores that the newest text of a policy is the same at another place.
func (r *Registry) Move(id string, u *source.Unit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.policies[id]; p != nil && p.Newest != nil {
		p.Newest.Unit = u
	}
}

// Prove stores that a revision does not end the process.
func (r *Registry) Prove(id, revision string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policy(id).Proven = revision
}

// Started reports whether every controller that the start waits for has reported.
func (r *Registry) Started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.policies {
		if p.starts {
			return false
		}
	}
	return true
}

// Settled reports whether every controller has reported.
func (r *Registry) Settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.policies {
		if p.Assigned != nil && p.Report.Event == "" {
			return false
		}
	}
	return true
}

func (r *Registry) policy(id string) *Policy {
	p := r.policies[id]
	if p == nil {
		p = &Policy{}
		r.policies[id] = p
	}
	return p
}

// fire changes the phase of a policy by the table.
func (r *Registry) fire(id string, p *Policy, event Event) {
	to, ok := next(p.Phase, event)
	if !ok {
		if r.Illegal != nil {
			r.Illegal(&IllegalTransition{ID: id, From: p.Phase, Event: event})
		}
		return
	}
	p.Phase = to
}

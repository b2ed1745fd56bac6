package lifecycle

import (
	"time"
)

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

// FellBack stores that the fallback of a revision came into force, and returns whether that
// is new. What the controller waits for stays the same.
func (r *Registry) FellBack(id string, ticket Ticket, inForce string, now time.Time) (isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.ticket.run != ticket.run || p.Report.InForce == inForce {
		return false
	}
	p.Report.InForce, p.Since = inForce, now
	return true
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

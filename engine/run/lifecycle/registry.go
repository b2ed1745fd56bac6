package lifecycle

import (
	"maps"
	"slices"
	"sync"

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
func (r *Registry) Checked() []string { return r.ids(func(p *Policy) bool { return p.Newest != nil }) }

// AssignedIDs returns the IDs of the policies whose controller has a revision, in
// order.
func (r *Registry) AssignedIDs() []string {
	return r.ids(func(p *Policy) bool { return p.Assigned != nil })
}

// RunningIDs returns the IDs of the policies of which a revision is in force or is to be, in
// order.
func (r *Registry) RunningIDs() []string {
	return r.ids(func(p *Policy) bool { return p.Assigned != nil || p.Report.InForce != "" })
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

// Recheck has the newest text of a policy checked again without an edit.
func (r *Registry) Recheck(id string) {
	r.change(id, func(p *Policy) { p.Newest.Recheck = RecheckDue })
}

// change calls a function, under the lock, with a policy if it has a newest text.
func (r *Registry) change(id string, do func(*Policy)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.policies[id]; p != nil && p.Newest != nil {
		do(p)
	}
}

// Found stores what was found in a text by the types of the cluster, in place of what was
// found in it without them. It does not if the text is no longer the newest.
func (r *Registry) Found(id string, u *source.Unit, problems []document.Problem) {
	r.change(id, func(p *Policy) {
		if now := *p.Newest; now.Good() && !now.Typed && now.Unit.Same(u) && now.Unit.SamePlace(u) {
			now.Problems = problems
			p.Newest = &now // others may read the result
		}
	})
}

// Move stores that the newest text of a policy is the same at another place.
func (r *Registry) Move(id string, u *source.Unit) {
	r.change(id, func(p *Policy) { p.Newest.Unit = u })
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

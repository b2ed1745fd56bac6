package controller

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/shards"
)

// Other is another replica that has not the same of a policy in force as this one.
type Other struct {
	Replica string
	shards.Revisions
	// Why is why it does not run the revision in force here; "" is that it does not say so.
	Why string
}

// InForce returns the revisions of the policies that run here, for other replicas.
func (r *Runtime) InForce() map[string]string {
	out := map[string]string{}
	for _, id := range r.policies.RunningIDs() {
		p := r.policies.Get(id)
		now := shards.Revisions{InForce: p.Report.InForce}
		if p.Assigned != nil && p.Assigned.Unit.Revision() != now.InForce {
			now.Next = p.Assigned.Unit.Revision()
		}
		out[id] = now.String()
	}
	return out
}

// Others returns the replicas that have not the same of a policy in force as this one, or do
// not keep it. In Shadow mode only the one that leads runs a policy.
func (r *Runtime) Others(id string) (out []Other) {
	if r.options.Others == nil || plan.ParseID(id).Shadow {
		return nil
	}
	p := r.policies.Get(id)
	for _, one := range r.options.Others() {
		other := Other{one.Identity, shards.ParseRevisions(one.InForce[id]), idleThere(&one, id, &p)}
		if other.Why != "" || differs(&one, other.Revisions, p.Report.InForce) {
			out = append(out, other)
		}
	}
	return out
}

// differs reports whether another replica, as far as it says what it has in force, has not
// the same in force as this one. One without shards, which decides about no object yet, only
// must not run another revision when it takes one over.
func differs(one *shards.Replica, there shards.Revisions, here string) bool {
	if one.InForce == nil {
		return false
	}
	if len(one.Held) > 0 {
		return there != shards.Revisions{InForce: here}
	}
	return there.InForce != "" && there.InForce != here || there.Next != "" && there.Next != here
}

// idleThere returns why another replica does not run the revision in force here. While the
// policy waits here, it is no news that it waits there.
func idleThere(one *shards.Replica, id string, p *lifecycle.Policy) string {
	if p.Report.InForce == "" || p.Report.Event == lifecycle.Blocked {
		return ""
	}
	for _, t := range one.Troubles {
		if t.Policy == id && t.Revision == p.Report.InForce && t.Idle != "" {
			return t.Idle
		}
	}
	return ""
}

// Elsewhere returns the IDs of the policies that other replicas run.
func (r *Runtime) Elsewhere() []string {
	all := map[string]bool{}
	if r.options.Others != nil {
		for _, one := range r.options.Others() {
			for id := range one.InForce {
				all[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

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
	// Grouped is that it may be another policy of which it has not the same: it has so many
	// that it announces sums.
	Grouped bool
	// Behind is that it has the same as far as it says, by an older history than the last
	// change of the policy: another one may come into force there for a moment.
	Behind bool
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

// Comparison compares what other replicas have in force with what this one has.
type Comparison struct {
	runtime  *Runtime
	replicas []shards.Replica
	// sums are those of what is in force here, by the number of groups.
	sums map[int]shards.Sums
	// changed returns the version of the history with the last change of a policy.
	changed func(id string) string
}

// Compare looks at the other replicas. Changed returns the version of the history with the
// last change of what is in force of a policy; "" is not known.
func (r *Runtime) Compare(changed func(id string) string) *Comparison {
	c := &Comparison{runtime: r, changed: changed, sums: map[int]shards.Sums{}}
	if r.options.Others == nil {
		return c
	}
	c.replicas = r.options.Others()
	for i := range c.replicas {
		if groups := c.replicas[i].Sums.Groups(); groups > 0 && c.sums[groups] == nil {
			c.sums[groups] = shards.SumsOf(r.wanted(), groups)
		}
	}
	return c
}

// wanted returns the revisions that other replicas are to have in force.
func (r *Runtime) wanted() map[string]string {
	out := map[string]string{}
	for _, id := range r.policies.RunningIDs() {
		out[id] = r.policies.Get(id).Report.InForce
	}
	return out
}

// Others returns the replicas that have not the same of a policy in force as this one, or do
// not keep it. In Shadow mode only the one that leads runs a policy.
func (c *Comparison) Others(id string) (out []Other) {
	if len(c.replicas) == 0 || plan.ParseID(id).Shadow {
		return nil
	}
	p := c.runtime.policies.Get(id)
	for i := range c.replicas {
		one := &c.replicas[i]
		other := Other{Replica: one.Identity, Revisions: shards.ParseRevisions(one.InForce[id]), Grouped: c.groupDiffers(one, id), Why: idleThere(one, id, &p)}
		same := other.Why == "" && !other.Grouped && !differs(one, other.Revisions, p.Report.InForce)
		if other.Behind = same && one.Behind(c.changed(id)); !same || other.Behind {
			out = append(out, other)
		}
	}
	return out
}

// groupDiffers reports whether another replica says so of a group of policies.
func (c *Comparison) groupDiffers(one *shards.Replica, id string) bool {
	return one.Sums != nil && !c.sums[one.Sums.Groups()].Same(id, one.Sums)
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

// Elsewhere returns the IDs of the policies that other replicas run. One that announces sums
// may run those that were known and are not in force here.
func (c *Comparison) Elsewhere(known []string) []string {
	all := map[string]bool{}
	for i := range c.replicas {
		one := &c.replicas[i]
		for id := range one.InForce {
			all[id] = true
		}
		for _, id := range known {
			all[id] = all[id] || c.groupDiffers(one, id)
		}
	}
	maps.DeleteFunc(all, func(_ string, runs bool) bool { return !runs })
	return slices.Sorted(maps.Keys(all))
}

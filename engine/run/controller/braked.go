package controller

import (
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/run/shards"
)

// BrakedBy sums up the state of the brakes about the objects of a policy; nil is nothing.
func BrakedBy(s *brake.State) (out shards.Braked) {
	if s == nil {
		return out
	}
	if out.Slowed = len(s.Paced); out.Slowed > 0 {
		out.Slow = s.Paced[0].String()
	}
	out.Uncertain = s.Kept[brake.Uncertain]
	return out
}

// Braked returns what the brakes of all replicas do about the objects of a policy.
func (r *Runtime) Braked(id string) shards.Braked {
	out := BrakedBy(r.brakes.State(id))
	others, _ := r.elsewhere(id)
	for i := range others {
		out.Add(others[i].Braked)
	}
	return out
}

// brakedHere returns what the brakes of this replica do; nil is nothing.
func (r *Runtime) brakedHere(id string) *shards.Braked {
	if out := BrakedBy(r.brakes.State(id)); out.Any() {
		return &out
	}
	return nil
}

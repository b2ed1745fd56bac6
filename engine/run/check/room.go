package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// room is what is left for the policies of a catalog. What is in force has its room first.
type room struct {
	plan.Room
	catalog *source.Catalog
	// assigned has the bytes that the running revision of a policy holds, by ID.
	assigned map[string]int
}

func newRoom(catalog *source.Catalog, policies *lifecycle.Registry) *room {
	r := &room{catalog: catalog, assigned: map[string]int{}}
	for _, id := range policies.AssignedIDs() {
		if p := policies.Get(id).Assigned.Plan; p != nil {
			r.assigned[id] = p.Kept
			_ = r.Take(r.of(id), p.Kept) // it runs, whether it fits or not
		}
	}
	return r
}

// of returns the ConfigMap of a policy; empty if there is none.
func (r *room) of(id string) string {
	if origin := r.catalog.Origins[id]; origin != nil {
		return origin.Path()
	}
	return ""
}

// order returns the IDs of a catalog, sorted: first those whose text was active, then the others.
// So each start refuses the same ones.
func (r *room) order(inForce func(id string, u *source.Unit) bool) []string {
	rank := func(id string) int {
		if inForce(id, r.catalog.Units[id]) {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(maps.Keys(r.catalog.Units), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// closed returns the result of a text that is not compiled, since a policy before it in its
// ConfigMap did not fit; nil if none did, or a controller has the policy.
func (r *room) closed(id string, u *source.Unit) *lifecycle.CheckResult {
	err := r.Closed(r.of(id))
	if _, runs := r.assigned[id]; runs || err == nil {
		return nil
	}
	return refusedFor(&lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u}}, err)
}

// refusedFor returns a result without the plan, for which there is no room.
func refusedFor(v *lifecycle.CheckResult, err error) *lifecycle.CheckResult {
	out := *v // others may read the result
	out.Plan, out.Schemas, out.TestsPending, out.Compiled, out.TooLarge = nil, nil, false, true, true
	out.Problems = append(slices.Clip(v.Problems), document.Problem{Position: v.Unit.Document.Pos, Severity: document.Error, Message: err.Error()})
	return &out
}

// fit refuses a policy for which there is no room. One that was refused so is to be checked
// again once there is.
func (r *room) fit(id string, v *lifecycle.CheckResult) *lifecycle.CheckResult {
	if v.Plan == nil && !v.TooLarge {
		return v
	}
	err := r.Take(r.of(id), max(0, v.Kept-r.assigned[id]))
	switch _, runs := r.assigned[id]; {
	case err == nil && v.TooLarge:
		out := *v
		out.Recheck = lifecycle.RecheckDue
		return &out
	case err != nil && !v.TooLarge && (!runs || v.Kept > r.assigned[id]):
		return refusedFor(v, err)
	}
	return v
}

// measure shows how much is kept.
func (r *room) measure() { observe.KeptBytes.Set(float64(r.Total())) }

package policies

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// assigner decides which revision of each policy runs, and gives it to the policy's
// controller.
type assigner struct {
	policies *lifecycle.Registry
	history  *historyStore
	runtime  *controller.Runtime
	// rollouts decides which revisions come into force in steps; nil is none.
	rollouts *rollouts
	// annotations returns those of a ConfigMap, with the status as it was last written.
	annotations func(*source.ConfigMap) (annotations map[string]string, version string)
	// stopped is called with each policy that is stopped.
	stopped func(id string, u *source.Unit, c *source.Catalog)
	// orphaned is called for the orphans of an edit.
	orphaned func(id string, orphans plan.Orphans, u *source.Unit)
	// starting reports that no revision was assigned yet.
	starting bool
}

// assign gives changed revisions to their controllers, and stops the policies that are
// not to run any more. Those of the start are watched together.
func (a *assigner) assign(catalog *source.Catalog, starting bool) {
	a.starting = starting
	var changed []*lifecycle.Revision
	wanted := map[string]bool{}
	for _, id := range a.known(catalog) {
		rev := a.wanted(id, catalog)
		if rev == nil {
			continue
		}
		wanted[id] = true
		now := a.policies.Get(id).Assigned
		if now == nil || !rev.Unit.Same(now.Unit) {
			rev = a.withFallback(id, rev.ReadFrom(catalog))
		}
		if a.policies.Assign(id, rev, starting) {
			changed = append(changed, rev)
			a.reportOrphans(id, now, rev)
		}
	}
	for _, id := range a.policies.AssignedIDs() {
		if !wanted[id] {
			a.stopped(id, a.policies.Get(id).Assigned.Unit, catalog)
			a.runtime.Stop(id)
		}
	}
	if starting {
		a.runtime.RunAll(changed)
		return
	}
	for _, rev := range changed {
		a.runtime.Run(rev)
	}
}

// reportOrphans reports the orphans of an edit. before is nil if nothing was in force.
func (a *assigner) reportOrphans(id string, before, after *lifecycle.Revision) {
	if before == nil || before.Plan == nil || after.Plan == nil {
		return
	}
	for _, orphans := range plan.FindOrphans(before.Plan, after.Plan) {
		a.orphaned(id, orphans, after.Unit)
	}
}

// known returns the IDs of the policies that are in a ConfigMap, run, or were not
// removed when another process led.
func (a *assigner) known(c *source.Catalog) []string {
	all := map[string]bool{}
	for id := range c.Units {
		all[id] = true
	}
	for _, id := range a.policies.AssignedIDs() {
		all[id] = true
	}
	for id := range a.history.entries {
		if a.history.good(id) != nil {
			all[id] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// there reports whether a policy exists, or may: it runs, a ConfigMap has it in some mode,
// or it is in what cannot be read.
func (a *assigner) there(policy string, c *source.Catalog) bool {
	return a.policies.Get(policy).Assigned != nil || c.Has(policy) || c.Untold(policy, a.history.place(policy, nil))
}

// wanted returns the revision of a policy that is to run: that of its ConfigMap, or if
// that is refused the last good one. Nil is none.
func (a *assigner) wanted(id string, c *source.Catalog) *lifecycle.Revision {
	p := a.policies.Get(id)
	newest, now := p.Newest, p.Assigned
	file := a.history.place(id, now)
	switch {
	case newest != nil && newest.Unit.Disabled():
		return nil
	case newest == nil && now != nil && c.Stopped(now.Unit, file, id != now.Unit.Name()):
		return nil // also while it cannot be read
	case newest != nil && newest.Good():
		return a.rollouts.stage(&newest.Revision, c, a.starting)
	case now != nil && (newest != nil || c.Untold(now.Unit.Name(), file)):
		return now.GoesOn()
	case now == nil && a.needsLastGood(newest, a.history.good(id), c):
		return a.history.lastGood(id)
	default:
		return nil
	}
}

// needsLastGood reports whether a policy is to run of which only the history has a
// good revision: its text is refused, or may be in a file that cannot be read.
func (a *assigner) needsLastGood(newest *lifecycle.CheckResult, kept *history.Entry, c *source.Catalog) bool {
	if newest != nil && newest.TestsPending { // the last good revision runs until the tests have ended
		return a.starting && kept != nil
	}
	if newest != nil {
		return !newest.Unit.Undecided || kept != nil && a.ran(kept, c)
	}
	if kept == nil {
		return false
	}
	file := a.history.place(kept.Policy, nil)
	if was := kept.Unit(); was == nil || c.Stopped(was, file, false) {
		return false
	}
	return c.Unreadable(file) || c.Undecided(kept.Policy, file) && a.ran(kept, c)
}

// ran reports whether a policy was in force before this process began, as the status of
// its ConfigMap says: a mode that is none has no effect, so that it still is.
func (a *assigner) ran(kept *history.Entry, c *source.Catalog) bool {
	origin := c.ContentsOf(a.history.place(kept.Policy, nil))
	if origin == nil {
		return false
	}
	status, _ := a.annotations(origin.ConfigMap)
	for id := range v1alpha1.Running(status) {
		if id == kept.Policy {
			return true
		}
	}
	return false
}

// withFallback adds the last good revision to one that is to run: the new one may have
// to wait, or may not fit the objects, and nothing runs yet that would go on.
func (a *assigner) withFallback(id string, rev *lifecycle.Revision) *lifecycle.Revision {
	kept := a.history.good(id)
	if kept == nil || kept.Revision == rev.Unit.Revision() || a.policies.Get(id).Report.InForce != "" {
		return rev
	}
	out := *rev
	out.Fallback = a.history.lastGood(id)
	return &out
}

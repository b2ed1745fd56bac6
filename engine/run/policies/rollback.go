package policies

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// AutoRollback is when a new revision is rolled back automatically. The zero value is
// never.
type AutoRollback struct {
	// Within is how long after it came into force a revision may be taken back.
	Within time.Duration
	// Share of the policy's objects, from 0 to 1, that fail then.
	Share float64
}

// rollback rolls revisions back under which too much fails.
type rollback struct {
	settings AutoRollback
	policies *lifecycle.Registry
	history  *historyStore
	checker  *check.Checker
	// failing returns how many objects of a policy fail, how many there are, and the
	// first error.
	failing func(id string, now time.Time) (failing, all int, example string)
	log     *slog.Logger
}

// check rolls the revisions back under which too much fails since they came
// into force, and reports whether there are any.
func (r *rollback) check(ctx context.Context, now time.Time) (any bool) {
	if r.settings.Within == 0 {
		return false
	}
	for _, id := range r.policies.AssignedIDs() {
		p := r.policies.Get(id)
		v := p.Newest
		if !p.RunsNewest() || id != v.Unit.Name() || now.Sub(p.Since) > r.settings.Within {
			continue
		}
		if failing, all, example := r.failing(id, now); all > 0 && float64(failing) >= r.settings.Share*float64(all) && failing > 0 {
			any = r.replace(ctx, id, v.Unit.Revision(), fmt.Sprintf("%d of %d objects fail since it came into force: %s", failing, all, example)) || any
		}
	}
	return any
}

// replace puts the revision before in force: the history notes that the present one is
// taken back, and its text is checked again. Without one before the present goes on.
func (r *rollback) replace(ctx context.Context, id, revision, why string) bool {
	now, before := r.confirmed(ctx, id, revision)
	if before == nil {
		return false
	}
	if u := before.Unit(); u == nil || !r.checker.Text(u).Good() {
		return false
	}
	r.log.Error("a revision is taken back", observe.LogPolicy, id, observe.LogRevision, revision, "reason", why, "instead", before.Revision)
	r.history.takeBack(ctx, now, why)
	r.policies.Recheck(id)
	observe.Reloads.WithLabelValues(id, "taken back").Inc()
	return true
}

// confirmed is found by what the cluster still keeps.
func (r *rollback) confirmed(ctx context.Context, id, revision string) (now, before *history.Entry) {
	if now, before = r.found(id, revision); before == nil {
		return now, before
	}
	r.history.confirm(ctx, id)
	return r.found(id, revision)
}

// found returns the entries of the revision in force and of the one before; nil if there
// is none before, or the one in force is not in the history yet. The same revision may
// have been in force earlier, too, and its file may have been another one.
func (r *rollback) found(id, revision string) (now, before *history.Entry) {
	entries := r.history.entries[id]
	if len(entries) == 0 || entries[len(entries)-1].Revision != revision || entries[len(entries)-1].TakenBack != "" {
		return nil, nil
	}
	others := slices.DeleteFunc(slices.Clone(entries), func(e *history.Entry) bool { return e.Revision == revision })
	return entries[len(entries)-1], history.Good(others)
}

// wayBack is how a person gets from a revision that was refused back to the one that
// runs. edict rollback would write an older text if only values are others.
func wayBack(policy, namespace string, sameText bool) string {
	if sameText {
		return "the text is the same: correct the values for its params, which are in the ConfigMaps labelled " + v1alpha1.LabelParams
	}
	return "correct the text, or take it back: edict rollback " + policy + " --policy-namespace " + namespace
}

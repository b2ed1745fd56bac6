package policies

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/document"
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
func (r *rollback) check(now time.Time) (any bool) {
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
			any = r.replace(id, v, fmt.Sprintf("taken back: %d of %d objects fail since it came into force: %s", failing, all, example)) || any
		}
	}
	return any
}

// replace puts the revision before in force. Without one the present goes on.
func (r *rollback) replace(id string, v *lifecycle.CheckResult, why string) bool {
	before := r.before(id, v.Unit.Revision())
	if before == nil {
		return false
	}
	u := before.Unit()
	if u == nil {
		return false
	}
	good := r.checker.Text(u)
	if !good.Good() {
		return false
	}
	r.log.Error("a revision is taken back", observe.LogPolicy, id, observe.LogRevision, v.Unit.Revision(), "reason", why, "instead", before.Revision)
	now := *v
	now.Plan, now.Compiled, now.Instead = nil, true, &good.Revision
	now.Problems = append(slices.Clone(v.Problems), document.Problem{Position: v.Unit.Document.Pos, Severity: document.Error, Message: why,
		Hint: "the revision " + before.Revision + " runs again; correct the text, or roll it back as well: edict rollback " + id})
	r.policies.Check(id, &now)
	observe.Reloads.WithLabelValues(id, "taken back").Inc()
	return true
}

// before returns the revision that was in force before the present one; nil if there is
// none, or the present one is not in the history yet. The same revision may have been in
// force earlier, too, and its file may have been another one.
func (r *rollback) before(id, revision string) *history.Entry {
	entries := r.history.entries[id]
	if len(entries) == 0 || entries[len(entries)-1].Revision != revision {
		return nil
	}
	return history.Good(slices.DeleteFunc(slices.Clone(entries), func(e *history.Entry) bool { return e.Revision == revision }))
}

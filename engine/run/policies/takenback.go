package policies

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// takeBack notes that the newest revision in force was taken back. It counts at once, and
// is stored by keep if it cannot be stored now.
func (s *historyStore) takeBack(ctx context.Context, e *history.Entry, why string) {
	e.TakenBack = why
	s.storeTakenBack(ctx)
}

// storeTakenBack stores which revisions were taken back, as far as that is not stored.
func (s *historyStore) storeTakenBack(ctx context.Context) (failed bool) {
	for id, list := range s.entries {
		for _, e := range slices.Clone(list) {
			if e.TakenBack == "" || e.Result == history.RolledBack {
				continue
			}
			if err := s.set(ctx, e, history.RolledBack); err != nil && ctx.Err() == nil {
				failed = true
				s.log.Error("it cannot be noted that a revision was taken back", observe.LogPolicy, id, observe.LogRevision, e.Revision, "error", err.Error())
			}
		}
	}
	return failed
}

// takenBack returns why a text does not run although it could: the controller has taken
// it back, and it is still the text of the same ConfigMap. Nil is that it may run, or
// has another problem that comes first.
func (s *historyStore) takenBack(u *source.Unit, origin *source.Contents) *document.Problem {
	list := s.entries[u.Name()]
	e := history.TakenBack(list)
	if e == nil || u.ID() != u.Name() || len(u.Unread) > 0 || e.Revision != u.Revision() || e.Owner != types.UID(origin.UID) {
		return nil
	}
	before := history.InForce(list)
	hint := wayBack(u.Name(), s.namespace, before.SameText(e))
	if before.Result == history.Active { // it was not stopped meanwhile
		hint = "the revision " + before.Revision + " runs again; " + hint
	}
	return &document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: "taken back: " + e.TakenBack, Hint: hint}
}

// runsAgain returns the last good revision if another one was taken back; nil if it was
// not.
func (s *historyStore) runsAgain(id string, r *lifecycle.Revision) *lifecycle.Revision {
	if e := history.TakenBack(s.entries[id]); e == nil || e.Revision != r.Unit.Revision() {
		return nil
	}
	return s.lastGood(id)
}

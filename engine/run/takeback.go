package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
)

// TakeBack says when a new revision is taken back without anybody asking for it.
// Its zero value never does so.
type TakeBack struct {
	// Within is how long after it came into force a revision may be taken back.
	Within time.Duration
	// Share of the policy's objects, from 0 to 1, that fail then.
	Share float64
}

// takebacks are the revisions that were taken back.
type takebacks struct {
	// since is when a policy's present revision was first seen running, and how
	// many of its objects failed then.
	since map[string]seenRunning
	// instead is what runs in place of a revision that was taken back.
	instead map[string]takenBack
}

type seenRunning struct {
	revision string
	at       time.Time
}

type takenBack struct {
	bad  string
	good *revision
}

func newTakebacks() takebacks {
	return takebacks{since: map[string]seenRunning{}, instead: map[string]takenBack{}}
}

// takeBack takes the revisions back under which too much fails since they came
// into force, and reports whether there are any.
func (l *library) takeBack(now time.Time) (any bool) {
	if l.TakeBack.Within == 0 {
		return false
	}
	for id := range l.adopted {
		v, s := l.verdicts[id], l.term.told(id)
		if v == nil || !v.good() || s.phase != running || s.revision != v.unit.Revision() || id != v.unit.Name() {
			continue
		}
		if seen := l.back.since[id]; seen.revision != s.revision {
			l.back.since[id] = seenRunning{s.revision, now}
			continue
		} else if now.Sub(seen.at) > l.TakeBack.Within {
			continue
		}
		if failing, all, example := l.failing(id, now); all > 0 && float64(failing) >= l.TakeBack.Share*float64(all) && failing > 0 {
			any = l.replace(id, v, fmt.Sprintf("taken back: %d of %d objects fail since it came into force: %s", failing, all, example)) || any
		}
	}
	return any
}

// failing counts the objects of a policy that fail.
func (l *library) failing(id string, now time.Time) (failing, all int, example string) {
	l.term.mu.Lock()
	r := l.runners[id]
	l.term.mu.Unlock()
	if r == nil {
		return 0, 0, ""
	}
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	if r.health.controller == nil {
		return 0, 0, ""
	}
	first, n := r.health.first(now)
	return n, len(r.health.controller.Keys()), fmt.Sprintf("%s: %s", first, r.health.failing[first].text)
}

// replace puts the revision before in force. Without one the present goes on.
func (l *library) replace(id string, v *verdict, why string) bool {
	entries := l.store.entries[id]
	at := slices.IndexFunc(entries, func(e *history.Entry) bool { return e.Revision == v.unit.Revision() })
	before := history.Good(entries[:max(at, 0)])
	if before == nil {
		return false
	}
	u := before.Unit()
	if u == nil {
		return false
	}
	good := l.judge.text(u)
	if !good.good() {
		return false
	}
	l.Log.Error("a revision is taken back", observe.LogPolicy, id, observe.LogRevision, v.unit.Revision(), "reason", why, "instead", before.Revision)
	v.plan, v.tested = nil, true
	v.problems = append(v.problems, document.Problem{Position: v.unit.Document.Pos, Severity: document.Error, Message: why,
		Hint: "the revision " + before.Revision + " runs again; mend the text, or take it back as well: edict rollback " + id})
	l.back.instead[id] = takenBack{v.unit.Revision(), &good.revision}
	observe.Reloads.WithLabelValues(id, "taken back").Inc()
	return true
}

// instead is what runs in place of a verdict's text that was taken back; nil if
// it was not.
func (l *library) instead(id string, v *verdict) *revision {
	if r, ok := l.back.instead[id]; ok && v != nil && v.plan == nil && r.bad == v.unit.Revision() {
		return r.good
	}
	return nil
}

package eval

import (
	"errors"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/week"
)

// Intent is what is known of a debounce key when a decision is made: whether
// something waits to be run, and since when the window is open.
type Intent struct {
	// Pending says that a rule waits; Rule is its index and Due when it runs.
	Pending bool
	Rule    int
	Due     time.Time
	// Last is when a rule of this key last succeeded; zero for never.
	Last time.Time
}

// Debounced is what a decision says of a rule with a debounce: whether it is
// wanted now, and whether it was run now.
type Debounced struct {
	Rule   int
	Key    string
	Window time.Duration
	// Wanted says that `when` held; Ran that the actions are in the decision.
	Wanted, Ran bool
	// Due is when it runs if it has not: after the window, or after what is
	// pending.
	Due time.Time
}

// Intents returns what is known of a debounce key.
type Intents func(key string) Intent

// debounced runs a rule that is due, or says when it is.
func (r *ruleRun) debounced(f *frame, wanted bool) {
	r.ev.unsettled = true
	d := Debounced{Rule: r.index, Wanted: wanted}
	if err := r.debounceKey(&d, f); err != nil {
		if wanted {
			r.fail(f, "", err)
		}
		return
	}
	var known Intent
	if r.ev.in.Intents != nil {
		known = r.ev.in.Intents(d.Key)
	}
	waits := known.Pending && known.Rule == r.index
	if !wanted && !waits {
		return
	}
	d.Due = due(known, wanted, d.Window, r.ev.in.Now)
	if open := opening(r.rule.Debounce.Allowed, latest(d.Due, r.ev.in.Now)); open.After(r.ev.in.Now) {
		d.Due = open
	}
	if d.Ran = r.ev.in.Flush || !d.Due.After(r.ev.in.Now); d.Ran {
		r.allItems(f)
	} else {
		r.ev.noteFlip(d.Due)
	}
	r.ev.decision.Debounced = append(r.ev.decision.Debounced, d)
}

func (r *ruleRun) debounceKey(d *Debounced, f *frame) (err error) {
	if d.Key, err = r.ev.text(r.rule.Debounce.Key, f); err != nil {
		return err
	}
	v, err := r.rule.Debounce.Window.Build(f, r.ev.meter)
	if err != nil {
		return err
	}
	window, ok := value.Duration(v)
	if text, isText := value.Str(v); isText {
		window, err = time.ParseDuration(text)
		ok = err == nil
	}
	if !ok {
		return &expr.Failure{At: r.rule.Debounce.Window.Pos(), Err: errors.New("the window is no duration")}
	}
	d.Window = window
	return nil
}

// due says when a rule may run. A new wish waits for the end of the window and
// takes the place of what was pending; what is pending never moves forward.
func due(known Intent, wanted bool, window time.Duration, now time.Time) time.Time {
	if !wanted {
		return known.Due
	}
	end := known.Last.Add(window)
	if known.Last.IsZero() || !end.After(now) {
		return now
	}
	if known.Pending && known.Due.After(end) {
		return known.Due
	}
	return end
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// opening returns the first time from an instant on at which a rule may run.
func opening(allowed []plan.Window, from time.Time) time.Time {
	if len(allowed) == 0 {
		return from
	}
	around := func(at time.Time) (out []week.Span) {
		for i := range allowed {
			out = append(out, allowed[i].Week.Spans(at.In(allowed[i].Location))...)
		}
		return out
	}
	if week.Inside(around(from), from) {
		return from
	}
	return week.Change(around, from)
}

package compile

import (
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/week"
)

// window compiles a time of the week: days by name, times as HH:MM. It may end
// at 24:00; from 00:00 to 24:00 is the whole day.
func window(w *v1alpha1.DebounceWindow, d *v1alpha1.Debounce, problems *findings) (out plan.Window, ok bool) {
	before := len(problems.List())
	days := week.Days{}
	if len(w.Days) == 0 {
		days = week.Every
	}
	for _, day := range w.Days {
		days = days.With(partOf(day, week.ParseDays, week.DayHint, problems))
	}
	from, to := partOf(w.From, week.ParseBegin, week.ClockHint, problems), partOf(w.To, week.ParseEnd, week.ClockHint, problems)
	out.Location = time.UTC
	if w.TimeZone.Value != "" {
		out.Location = location(w.TimeZone, problems)
	}
	if !w.From.Set() || !w.To.Set() {
		problems.Hintf(windowPos(w, d), "{days: [Mon], from: \"02:00\", to: \"04:00\"}", "a window needs from and to")
	}
	if len(problems.List()) > before {
		return out, false
	}
	var err error
	if out.Week, err = week.New(days, from, to); err != nil {
		problems.Hintf(w.To.Pos(), "from: \"00:00\", to: \"24:00\" is the whole day", "%v", err)
	}
	return out, err == nil
}

// partOf parses a part of a window, if it is there.
func partOf[T any](t v1alpha1.Text, parse func(string) (T, error), hint string, problems *findings) (out T) {
	if !t.Set() {
		return out
	}
	out, err := parse(t.Value)
	if err != nil {
		problems.Hintf(t.Pos(), hint, "%v", err)
	}
	return out
}

func location(t v1alpha1.Text, problems *findings) *time.Location {
	out, err := week.Location(t.Value)
	if err != nil {
		problems.Hintf(t.Pos(), "such as Europe/Berlin; UTC when it is left out", "unknown time zone %q", t.Value)
	}
	return out
}

// windowPos is where a window is written, as far as it is known.
func windowPos(w *v1alpha1.DebounceWindow, d *v1alpha1.Debounce) document.Position {
	for _, t := range append([]v1alpha1.Text{w.From, w.To, w.TimeZone}, w.Days...) {
		if t.Set() {
			return t.Pos()
		}
	}
	return d.Pos
}

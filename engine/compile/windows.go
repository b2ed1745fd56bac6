package compile

import (
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

// weekdays are the names of days: the first three letters and the whole word.
var weekdays = func() map[string]time.Weekday {
	out := map[string]time.Weekday{}
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := strings.ToLower(day.String())
		out[name], out[name[:3]] = day, day
	}
	return out
}()

// window compiles a time of the week: days by name, times as HH:MM. It may end
// at 24:00; from 00:00 to 24:00 is the whole day.
func window(w *v1alpha1.DebounceWindow, d *v1alpha1.Debounce, problems *findings) (out plan.Window, ok bool) {
	before := len(problems.List())
	for _, day := range w.Days {
		at, known := weekdays[strings.ToLower(day.Value)]
		if !known {
			problems.Hintf(day.Pos(), "Mon, Tue, Wed, Thu, Fri, Sat or Sun, or the whole word in English", "unknown day %q", day.Value)
		}
		out.Days = append(out.Days, at)
	}
	out.From, out.To = clock(w.From, false, problems), clock(w.To, true, problems)
	location, err := time.LoadLocation(w.TimeZone.Value)
	if err != nil {
		problems.Hintf(w.TimeZone.Pos(), "such as Europe/Berlin; UTC when it is left out", "unknown time zone %q", w.TimeZone.Value)
	}
	out.Location = location
	switch {
	case !w.From.Set() || !w.To.Set():
		problems.Hintf(windowPos(w, d), "{days: [Mon], from: \"02:00\", to: \"04:00\"}", "a window needs from and to")
	case out.From == out.To && len(problems.List()) == before:
		problems.Hintf(w.To.Pos(), "from: \"00:00\", to: \"24:00\" is the whole day", "the window ends when it begins")
	}
	return out, len(problems.List()) == before
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

// endOfDay is the time of day at which a window may end, but not begin.
const endOfDay = "24:00"

func clock(t v1alpha1.Text, end bool, problems *findings) time.Duration {
	switch {
	case !t.Set():
		return 0
	case end && t.Value == endOfDay:
		return 24 * time.Hour
	}
	at, err := time.Parse("15:04", t.Value)
	if err != nil {
		problems.Hintf(t.Pos(), "such as 22:30", "%q is not a time of day", t.Value)
		return 0
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}

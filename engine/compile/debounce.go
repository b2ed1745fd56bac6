package compile

import (
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

func (b *builder) remember(s *scope, a *v1alpha1.RememberAction) plan.Action {
	if !a.Name.Set() || !a.Value.Set() {
		b.problems.Hintf(a.Pos, "remember: {name: hash, value: ${variables.hash}}", "remember needs name and value")
		return nil
	}
	b.plan.Stateful = true
	out := &plan.Remember{Pos: a.Pos, Name: b.template(s, a.Name), Value: b.template(s, a.Value)}
	out.Name.Fit(&schema.Type{Kind: schema.String}, "name", b.problems)
	return out
}

// debounce compiles the delay of a rule. Its key is one of the policy's key,
// not of an item.
func (b *builder) debounce(s *scope, r *v1alpha1.Rule, perItem bool) *plan.Debounce {
	d := r.Debounce
	if !d.Key.Set() || !d.Window.Set() {
		b.problems.Hintf(d.Pos, `debounce: {key: "${key.name}", window: "${params.window}"}`, "debounce needs key and window")
		return nil
	}
	if len(r.Cases) > 0 {
		b.problems.Hintf(r.Pos, "make a rule of each case", "a rule with debounce has no cases")
		return nil
	}
	if perItem {
		b.problems.Hintf(r.When.Pos(), "filter the list: forEach: list.filter(item, ...)", "a rule with debounce is delayed for all its items at once, so its when cannot name one")
		return nil
	}
	b.plan.Stateful = true
	s = b.global(s.node)
	out := &plan.Debounce{Key: b.template(s, d.Key), Window: b.template(s, d.Window)}
	out.Key.Fit(&schema.Type{Kind: schema.String}, "key", b.problems)
	if d.MaxInFlight.Set() {
		out.MaxInFlight = b.atLeastOne(d.MaxInFlight, "maxInFlight")
	}
	if text, ok := value.Str(out.Window.Constant()); !ok {
		b.wantDuration(out.Window, "window")
	} else if _, err := time.ParseDuration(text); err != nil {
		b.problems.Hintf(out.Window.Pos(), "such as 10s", "%q is no duration", text)
	}
	for i := range d.Allowed {
		if w, ok := b.window(&d.Allowed[i], d); ok {
			out.Allowed = append(out.Allowed, w)
		}
	}
	return out
}

// atLeastOne returns a positive number that only params decide.
func (b *builder) atLeastOne(t v1alpha1.Template, what string) int64 {
	before := len(b.problems.List())
	n, ok := value.Int(b.constant(t))
	if (!ok || n < 1) && len(b.problems.List()) == before {
		b.problems.Hintf(t.Pos(), "such as 2, or a param", "%s must be a whole number of at least 1", what)
	}
	return n
}

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
func (b *builder) window(w *v1alpha1.DebounceWindow, d *v1alpha1.Debounce) (out plan.Window, ok bool) {
	before := len(b.problems.List())
	for _, day := range w.Days {
		at, known := weekdays[strings.ToLower(day.Value)]
		if !known {
			b.problems.Hintf(day.Pos(), "Mon, Tue, Wed, Thu, Fri, Sat or Sun, or the whole word in English", "unknown day %q", day.Value)
		}
		out.Days = append(out.Days, at)
	}
	out.From, out.To = b.clock(w.From, false), b.clock(w.To, true)
	location, err := time.LoadLocation(w.TimeZone.Value)
	if err != nil {
		b.problems.Hintf(w.TimeZone.Pos(), "such as Europe/Berlin; UTC when it is left out", "unknown time zone %q", w.TimeZone.Value)
	}
	out.Location = location
	switch {
	case !w.From.Set() || !w.To.Set():
		b.problems.Hintf(windowPos(w, d), "{days: [Mon], from: \"02:00\", to: \"04:00\"}", "a window needs from and to")
	case out.From == out.To && len(b.problems.List()) == before:
		b.problems.Hintf(w.To.Pos(), "from: \"00:00\", to: \"24:00\" is the whole day", "the window ends when it begins")
	}
	return out, len(b.problems.List()) == before
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

func (b *builder) clock(t v1alpha1.Text, end bool) time.Duration {
	switch {
	case !t.Set():
		return 0
	case end && t.Value == endOfDay:
		return 24 * time.Hour
	}
	at, err := time.Parse("15:04", t.Value)
	if err != nil {
		b.problems.Hintf(t.Pos(), "such as 22:30", "%q is not a time of day", t.Value)
		return 0
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}

package calendar

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// window is a time of the week.
type window struct {
	// days are those on which it begins.
	days [7]bool
	// from and to count from midnight; to is later than from, on the next day if
	// need be.
	from, to time.Duration
}

func within(call *expr.Call, args []value.Value) (value.Value, error) {
	text, _ := value.Str(args[0])
	windows, err := parseWindows(text)
	if err != nil {
		return nil, err
	}
	zone, err := location(args[1])
	if err != nil {
		return nil, err
	}
	starts, ends := edges(windows, call.Now.In(zone))
	is := inside(starts, ends, call.Now)
	if at := change(starts, ends, call.Now, is); !at.IsZero() {
		call.Flip(at)
	}
	return value.OfBool(is), nil
}

// edges returns when the windows around a time begin and end: from the day before
// to the same day of the next week.
func edges(windows []window, now time.Time) (starts, ends []time.Time) {
	for day := -1; day <= 8; day++ {
		midnight := time.Date(now.Year(), now.Month(), now.Day()+day, 0, 0, 0, 0, now.Location())
		for _, w := range windows {
			if w.days[midnight.Weekday()] {
				starts, ends = append(starts, on(midnight, w.from)), append(ends, on(midnight, w.to))
			}
		}
	}
	return starts, ends
}

// on returns a time of day by the clock on the wall, which is not so long after
// midnight on a day on which the clock is changed.
func on(midnight time.Time, d time.Duration) time.Time {
	return time.Date(midnight.Year(), midnight.Month(), midnight.Day(), 0, int(d/time.Minute), 0, 0, midnight.Location())
}

func inside(starts, ends []time.Time, at time.Time) bool {
	for i := range starts {
		if !at.Before(starts[i]) && at.Before(ends[i]) {
			return true
		}
	}
	return false
}

// change returns the first time after now at which being inside turns; the zero
// time if it does not within a week, and so never.
func change(starts, ends []time.Time, now time.Time, is bool) time.Time {
	all := slices.Concat(starts, ends)
	slices.SortFunc(all, time.Time.Compare)
	for _, at := range all {
		if at.After(now) && at.Before(now.Add(8*day)) && inside(starts, ends, at) != is {
			return at
		}
	}
	return time.Time{}
}

var weekdays = map[string]time.Weekday{"Sun": 0, "Mon": 1, "Tue": 2, "Wed": 3, "Thu": 4, "Fri": 5, "Sat": 6}

func parseWindows(text string) (out []window, err error) {
	for one := range strings.SplitSeq(text, ";") {
		w, err := parseWindow(strings.TrimSpace(one))
		if err != nil {
			return nil, fmt.Errorf("%q is not a time of the week such as \"Mon-Fri 08:00-20:00\" or \"Sat,Sun 00:00-24:00\": %w", value.Cut(one, 64), err)
		}
		out = append(out, w)
	}
	return out, nil
}

func parseWindow(text string) (w window, err error) {
	days, hours, found := strings.Cut(text, " ")
	if !found {
		days, hours = "Sun-Sat", text
	}
	if err := w.parseDays(days); err != nil {
		return w, err
	}
	from, to, found := strings.Cut(hours, "-")
	if !found {
		return w, fmt.Errorf("%q is not HH:MM-HH:MM", hours)
	}
	if w.from, err = clock(from); err != nil {
		return w, err
	}
	if w.to, err = clock(to); err != nil {
		return w, err
	}
	if w.from == w.to || w.from == 24*time.Hour {
		return w, fmt.Errorf("the times %s and %s leave nothing between them", from, to)
	}
	if w.to < w.from {
		w.to += 24 * time.Hour
	}
	return w, nil
}

func (w *window) parseDays(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, ok := weekdays[first]
		to, also := weekdays[last]
		if !ok || !also {
			return fmt.Errorf("%q is not a day such as Mon, nor days such as Mon-Fri", part)
		}
		for day := from; ; day = (day + 1) % 7 {
			w.days[day] = true
			if day == to {
				break
			}
		}
	}
	return nil
}

// clock parses HH:MM, 24:00 included.
func clock(text string) (time.Duration, error) {
	if text == "24:00" {
		return 24 * time.Hour, nil
	}
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q is not a time of day HH:MM", text)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

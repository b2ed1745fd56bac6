package week

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // images often have no files of time zones
)

// Window is a time of the week by the clock on the wall.
type Window struct {
	// Days are those on which it begins.
	Days Days
	// From and To count from midnight. To is later than From, on the next day if need
	// be.
	From, To time.Duration
}

// Days are days of the week, by time.Weekday.
type Days [7]bool

// Every is every day.
var Every = Days{true, true, true, true, true, true, true}

// With returns the days of both.
func (d Days) With(other Days) Days {
	for i := range d {
		d[i] = d[i] || other[i]
	}
	return d
}

var weekdays = func() map[string]time.Weekday {
	out := map[string]time.Weekday{}
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := strings.ToLower(day.String())
		out[name], out[name[:3]] = day, day
	}
	return out
}()

// DayHint says how days are written.
const DayHint = "Mon, Tue, Wed, Thu, Fri, Sat or Sun, the whole word in English, or days such as Mon-Fri"

// ParseDays reads a day, or days such as Mon-Fri. They may go around the end of the week.
func ParseDays(text string) (out Days, err error) {
	first, last, isRange := strings.Cut(strings.ToLower(text), "-")
	if !isRange {
		last = first
	}
	from, ok := weekdays[first]
	to, also := weekdays[last]
	if !ok || !also {
		return out, fmt.Errorf("unknown day %q", text)
	}
	for day := from; ; day = (day + 1) % 7 {
		if out[day] = true; day == to {
			return out, nil
		}
	}
}

const (
	day = 24 * time.Hour
	// endOfDay is the time of day at which a window may end, but not begin.
	endOfDay = "24:00"
)

// ClockHint says how times of the day are written.
const ClockHint = "such as 22:30"

// ParseBegin reads a time of the day, HH:MM.
func ParseBegin(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q is not a time of day", text)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

// ParseEnd reads a time of the day, 24:00 included.
func ParseEnd(text string) (time.Duration, error) {
	if text == endOfDay {
		return day, nil
	}
	return ParseBegin(text)
}

// ErrEmpty reports that a window ends when it begins.
var ErrEmpty = errors.New("the window ends when it begins")

// New returns a window. If it ends before it begins, it ends on the next day.
func New(days Days, from, to time.Duration) (Window, error) {
	if from == to {
		return Window{}, ErrEmpty
	}
	if to < from {
		to += day
	}
	return Window{days, from, to}, nil
}

// Parse reads windows that are joined by ;, such as Mon-Fri 08:00-20:00; Sat 09:00-12:00.
// Without days they are those of every day.
func Parse(text string) (out []Window, err error) {
	for one := range strings.SplitSeq(text, ";") {
		w, err := parse(strings.TrimSpace(one))
		if err != nil {
			return nil, fmt.Errorf("%q is not a time of the week such as \"Mon-Fri 08:00-20:00\" or \"Sat,Sun 00:00-24:00\": %w", cut(one), err)
		}
		out = append(out, w)
	}
	return out, nil
}

// maxShown is how much of a text is repeated in an error, in bytes.
const maxShown = 64

func cut(text string) string {
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

func parse(text string) (Window, error) {
	days, hours, found := strings.Cut(text, " ")
	if !found {
		days, hours = "Sun-Sat", text
	}
	var on Days
	for part := range strings.SplitSeq(days, ",") {
		more, err := ParseDays(part)
		if err != nil {
			return Window{}, err
		}
		on = on.With(more)
	}
	begin, end, _ := strings.Cut(hours, "-")
	from, err := ParseBegin(begin)
	if err != nil {
		return Window{}, err
	}
	to, err := ParseEnd(end)
	if err != nil {
		return Window{}, err
	}
	return New(on, from, to)
}

// Limits of the names of time zones, and of how many are kept.
const (
	MaxLocation  = 64
	maxLocations = 1_000
)

// locations are the time zones that were asked for, by name: reading one takes a file.
var locations struct {
	sync.RWMutex
	known map[string]*time.Location
}

// Location returns a time zone by its name. That of the machine is none: the same policy
// decides the same everywhere.
func Location(name string) (*time.Location, error) {
	if len(name) > MaxLocation || name == "" || name == "Local" || path.Clean(name) != name {
		return nil, fmt.Errorf("unknown time zone %q; a name is such as Etc/UTC or Europe/Berlin", name[:min(len(name), MaxLocation)])
	}
	locations.RLock()
	known := locations.known[name]
	locations.RUnlock()
	if known != nil {
		return known, nil
	}
	name = strings.Clone(name) // which may be a part of a large text
	out, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	locations.Lock()
	defer locations.Unlock()
	if locations.known == nil {
		locations.known = map[string]*time.Location{}
	}
	if len(locations.known) < maxLocations {
		locations.known[name] = out
	}
	return out, nil
}

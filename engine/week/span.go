package week

import (
	"slices"
	"time"
)

// Span is when a window is open, without its end.
type Span struct{ Begin, End time.Time }

// Spans returns when a window is open around a time, in the time zone of that time: from
// the day before to the same day of the next week. A window is open while the local time of
// day is in it, so twice in an hour that comes twice.
func (w Window) Spans(around time.Time) (out []Span) {
	for add := -1; add <= 8; add++ {
		midnight := time.Date(around.Year(), around.Month(), around.Day()+add, 0, 0, 0, 0, time.UTC)
		if w.Days[midnight.Weekday()] {
			out = appendLocal(out, Span{midnight.Add(w.From), midnight.Add(w.To)}, around.Location())
		}
	}
	return out
}

// appendLocal appends the times at which the local time of a place is in a span, whose ends are
// local times written in UTC: one part for each offset from UTC that the place has in it.
func appendLocal(out []Span, wall Span, in *time.Location) []Span {
	for at := wall.Begin.Add(-day); !at.IsZero() && at.Before(wall.End.Add(day)); {
		local := at.In(in)
		begin, end := local.ZoneBounds()
		shown := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), time.UTC)
		ahead := at.Sub(shown)
		s := Span{wall.Begin.Add(ahead), wall.End.Add(ahead)}
		if s.Begin.Before(begin) {
			s.Begin = begin
		}
		if !end.IsZero() && s.End.After(end) {
			s.End = end
		}
		if s.Begin.Before(s.End) {
			out = append(out, s)
		}
		at = end
	}
	return out
}

// Inside reports whether one of some spans has a time in it.
func Inside(spans []Span, at time.Time) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return !at.Before(s.Begin) && at.Before(s.End) })
}

// horizon is how far the spans around a time reach.
const horizon = 8 * day

// Change returns the first time after another at which being inside turns; the zero time
// if it never does. The spans around a time are those of one or several windows.
func Change(around func(time.Time) []Span, from time.Time) time.Time {
	spans := around(from)
	is := Inside(spans, from)
	first := change(spans, from, from, is)
	if first.IsZero() && !is { // the clock is put forward over the only one of a week
		next := from.Add(7 * day)
		first = change(around(next), from, next, is)
	}
	return first
}

// change returns the first time at which being inside some spans, which are those around
// another time, is not as it was.
func change(spans []Span, from, around time.Time, is bool) (first time.Time) {
	for _, s := range spans {
		for _, at := range []time.Time{s.Begin, s.End} {
			next := at.After(from) && at.Before(around.Add(horizon)) && (first.IsZero() || at.Before(first))
			if next && Inside(spans, at) != is {
				first = at
			}
		}
	}
	return first
}

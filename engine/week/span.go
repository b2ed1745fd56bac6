package week

import "time"

// Span is when a window is open, without its end.
type Span struct{ Begin, End time.Time }

// Spans returns when a window is open around a time, in the time zone of that time: from
// the day before to the same day of the next week.
func (w Window) Spans(around time.Time) (out []Span) {
	for add := -1; add <= 8; add++ {
		// There may be no midnight, but in UTC there is.
		weekday := time.Date(around.Year(), around.Month(), around.Day()+add, 0, 0, 0, 0, time.UTC).Weekday()
		s := Span{on(around, add, w.From), on(around, add, w.To)}
		if w.Days[weekday] && s.Begin.Before(s.End) {
			out = append(out, s)
		}
	}
	return out
}

// on returns a time of the day by the clock on the wall, some days later. If the clock is
// put forward over it, it is the moment at which that happens.
func on(around time.Time, days int, clock time.Duration) time.Time {
	year, month, day := around.Date()
	minutes := int(clock / time.Minute)
	at := time.Date(year, month, day+days, 0, minutes, 0, 0, around.Location())
	shown := at.Hour()*60 + at.Minute()
	if wanted := minutes % (24 * 60); shown != wanted {
		begin, end := at.ZoneBounds()
		if later := (shown - wanted + 24*60) % (24 * 60); later < 12*60 {
			return begin
		}
		return end
	}
	return at
}

// Inside reports whether one of some spans has a time in it.
func Inside(spans []Span, at time.Time) bool {
	for _, s := range spans {
		if !at.Before(s.Begin) && at.Before(s.End) {
			return true
		}
	}
	return false
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

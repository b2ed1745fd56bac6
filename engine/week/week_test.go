package week_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/week"
	"github.com/edict-dev/edict/test/budget"
)

// TestParse: days and times of the day in all forms, and what is none.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Mon-Fri 08:00-20:00": "", "Sat,Sun 00:00-24:00": "", "22:00-06:00": "", "fri-Monday 22:00-06:00": "", "Mon 08:00-09:00;Tue 08:00-09:00": "",
		"Mo 08:00-09:00":       `"Mo 08:00-09:00" is not a time of the week such as "Mon-Fri 08:00-20:00" or "Sat,Sun 00:00-24:00": unknown day "Mo"`,
		"Mon-Fri-Sun 08:00-09": `unknown day "Mon-Fri-Sun"`,
		"8:00-09:00":           `"8:00" is not a time of day`,
		"Mon-Fri":              `"Mon" is not a time of day`,
		"08:00":                `"" is not a time of day`,
		"24:00-09:00":          `"24:00" is not a time of day`,
		"08:00-08:00":          "the window ends when it begins",
		"08:00-24:01":          `"24:01" is not a time of day`,
		"08:00-09:00;":         `"" is not a time of the week`,
		"":                     `"" is not a time of the week`,
	} {
		_, err := week.Parse(text)
		if got := message(err); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestSpans: a window is open while the clock on the wall shows a time in it, also on
// days on which the clock is changed; and Change is the first minute at which that turns.
func TestSpans(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		location, err := week.Location([]string{"Etc/UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago"}[random.IntN(6)])
		if err != nil {
			t.Fatal(err)
		}
		windows := somewindows(random)
		around := func(at time.Time) (out []week.Span) {
			for _, w := range windows {
				out = append(out, w.Spans(at.In(location))...)
			}
			return out
		}
		// Mostly about the days on which the clock is changed.
		from := []time.Time{date(3, 7), date(3, 28), date(4, 4), date(9, 5), date(10, 3), date(10, 24), date(10, 31), date(6, 1)}[random.IntN(8)].Add(time.Duration(random.IntN(3*24*60)) * time.Minute)
		is := week.Inside(around(from), from)
		if !repeated(from, location) && is != shows(windows, from.In(location)) {
			t.Errorf("seed %d: %v at %s: %v", seed, windows, from.In(location), is)
		}
		want := time.Time{}
		for at := from.Add(time.Minute); at.Before(from.Add(15 * 24 * time.Hour)); at = at.Add(time.Minute) {
			// Windows and clocks change at a quarter of an hour: that, and what is beside it.
			if quarter := (at.Minute() + 1) % 15; quarter > 2 && !budget.Long() {
				continue
			}
			if week.Inside(around(at), at) != is {
				want = at
				break
			}
		}
		if got := week.Change(around, from); !got.Equal(want) {
			t.Errorf("seed %d: %v changes at %s after %s, want %s", seed, windows, got.In(location), from.In(location), want.In(location))
		}
	}
}

func date(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC)
}

func somewindows(random *rand.Rand) (out []week.Window) {
	for range 1 + random.IntN(2) {
		var days week.Days
		for days == (week.Days{}) {
			for i := range days {
				days[i] = random.IntN(3) == 0
			}
		}
		quarter := func(n int) time.Duration { return time.Duration(random.IntN(n)) * 15 * time.Minute }
		if w, err := week.New(days, quarter(96), quarter(97)); err == nil {
			out = append(out, w)
		}
	}
	return out
}

// shows reports whether the clock on the wall shows a time in a window.
func shows(windows []week.Window, local time.Time) bool {
	clock := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute
	before := (local.Weekday() + 6) % 7
	for _, w := range windows {
		if w.Days[local.Weekday()] && w.From <= clock && clock < w.To || w.Days[before] && clock+24*time.Hour < w.To {
			return true
		}
	}
	return false
}

// repeated reports whether the clock shows a time twice on that day.
func repeated(at time.Time, location *time.Location) bool {
	for _, by := range []time.Duration{-time.Hour, -30 * time.Minute, 30 * time.Minute, time.Hour} {
		if at.In(location).Format(time.DateTime) == at.Add(by).In(location).Format(time.DateTime) {
			return true
		}
	}
	return false
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

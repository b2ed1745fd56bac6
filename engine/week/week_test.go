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

// TestSpans: a window is open while the clock on the wall shows a time in it, also in an
// hour that comes twice; and Change is the first minute at which that turns.
func TestSpans(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		location, err := week.Location([]string{"Etc/UTC", "Europe/Berlin", "America/New_York", "Australia/Sydney", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago"}[random.IntN(7)])
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
		is := shows(windows, from.In(location))
		want := time.Time{}
		for at := from; at.Before(from.Add(15 * 24 * time.Hour)); at = at.Add(time.Minute) {
			// Windows and clocks change at a quarter of an hour: that, and what is beside it.
			if quarter := (at.Minute() + 1) % 15; quarter > 2 && !budget.Long() {
				continue
			}
			now := shows(windows, at.In(location))
			if now != week.Inside(around(at), at) {
				t.Errorf("seed %d: %v at %s: want %v", seed, windows, at.In(location), now)
			}
			if now != is {
				want = at
				break
			}
		}
		if got := week.Change(around, from); !got.Equal(want) {
			t.Errorf("seed %d: %v changes at %s after %s, want %s", seed, windows, got.In(location), from.In(location), want.In(location))
		}
	}
}

// TestTwice: the edges of windows in the hours that come twice or never, zone by zone.
func TestTwice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ zone, text, from, want string }{
		{"Europe/Berlin", "Sun 02:00-03:00", "2026-10-25T00:00:00Z", "00:00-02:00"},
		{"Europe/Berlin", "Sun 02:30-04:00", "2026-10-25T00:00:00Z", "00:30-01:00 01:30-03:00"},
		{"Europe/Berlin", "Sun 02:30-04:00", "2026-03-29T00:00:00Z", "01:00-02:00"},
		{"Europe/Berlin", "Sun 02:00-03:00", "2026-03-29T00:00:00Z", ""},
		{"America/New_York", "Sun 01:00-02:00", "2026-11-01T04:00:00Z", "05:00-07:00"},
		{"America/New_York", "Sun 00:30-01:30", "2026-11-01T04:00:00Z", "04:30-05:30 06:00-06:30"},
		{"Australia/Sydney", "Sun 02:00-03:00", "2026-04-04T14:00:00Z", "15:00-17:00"},
		{"Australia/Sydney", "Sun 02:15-03:15", "2026-10-03T14:00:00Z", "16:00-16:15"},
		{"Australia/Lord_Howe", "Sun 01:45-02:15", "2026-04-04T14:00:00Z", "14:45-15:00 15:15-15:45"},
		{"Australia/Lord_Howe", "Sun 02:00-02:45", "2026-10-03T14:00:00Z", "15:30-15:45"},
		{"America/Santiago", "Sat 23:30-00:30", "2026-04-05T00:00:00Z", "02:30-03:00 03:30-04:30"},
		{"America/Santiago", "Sun 00:00-01:30", "2026-09-06T00:00:00Z", "04:00-04:30"},
	} {
		location, err := week.Location(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		windows, err := week.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.Parse(time.RFC3339, test.from)
		if err != nil {
			t.Fatal(err)
		}
		around := func(at time.Time) []week.Span { return windows[0].Spans(at.In(location)) }
		var got []string
		for at := week.Change(around, from.Add(-time.Second)); at.Before(from.Add(12 * time.Hour)); {
			end := week.Change(around, at)
			got = append(got, at.UTC().Format("15:04-")+end.UTC().Format("15:04"))
			at = week.Change(around, end)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s %s: open %q, want %q", test.zone, test.text, got, test.want)
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

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

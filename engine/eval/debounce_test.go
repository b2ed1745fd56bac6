package eval

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/week"
)

// TestOpening: when a rule may run, by windows of the week.
func TestOpening(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	hours := func(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }
	night := plan.Window{Week: week.Window{Days: week.Days{time.Saturday: true}, From: hours(22), To: hours(28)}, Location: time.UTC}
	noon := plan.Window{Week: week.Window{Days: week.Every, From: hours(12), To: hours(13.5)}, Location: time.UTC}
	early := plan.Window{Week: week.Window{Days: week.Every, From: hours(2.5), To: hours(3.5)}, Location: berlin}
	for _, test := range []struct {
		name       string
		allowed    []plan.Window
		from, want string
	}{
		{"no window", nil, "2026-03-04T10:00:00Z", "2026-03-04T10:00:00Z"},
		{"before it", []plan.Window{noon}, "2026-03-04T10:00:00Z", "2026-03-04T12:00:00Z"},
		{"at its beginning", []plan.Window{noon}, "2026-03-04T12:00:00Z", "2026-03-04T12:00:00Z"},
		{"inside", []plan.Window{noon}, "2026-03-04T13:29:59Z", "2026-03-04T13:29:59Z"},
		{"at its end", []plan.Window{noon}, "2026-03-04T13:30:00Z", "2026-03-05T12:00:00Z"},
		{"a day of the week", []plan.Window{night}, "2026-03-04T10:00:00Z", "2026-03-07T22:00:00Z"},
		{"past midnight", []plan.Window{night}, "2026-03-08T03:00:00Z", "2026-03-08T03:00:00Z"},
		{"after it", []plan.Window{night}, "2026-03-08T04:00:00Z", "2026-03-14T22:00:00Z"},
		{"the first of two", []plan.Window{night, noon}, "2026-03-07T21:00:00Z", "2026-03-07T22:00:00Z"},
		{"in a time zone", []plan.Window{early}, "2026-03-04T00:00:00Z", "2026-03-04T01:30:00Z"},
		{"on the day that has no such hour", []plan.Window{early}, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
	} {
		from, err := time.Parse(time.RFC3339, test.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := opening(test.allowed, from).UTC().Format(time.RFC3339); got != test.want {
			t.Errorf("%s: want %s, got %s", test.name, test.want, got)
		}
	}
}

// TestDue: a new wish waits for the end of the window, and never makes what is
// pending earlier; what is pending stays where it is.
func TestDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	in := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	for _, test := range []struct {
		name   string
		known  Intent
		wanted bool
		want   time.Time
	}{
		{"the first wish", Intent{}, true, now},
		{"inside the window", Intent{Last: in(-2)}, true, in(3)},
		{"at the end of the window", Intent{Last: in(-5)}, true, now},
		{"a later wish", Intent{Last: in(-2), Pending: true, Due: in(3)}, true, in(3)},
		{"a retry that is later than the window", Intent{Last: in(-2), Pending: true, Due: in(20)}, true, in(20)},
		{"a retry, and the window is over", Intent{Last: in(-60), Pending: true, Due: in(20)}, true, now},
		{"no new wish", Intent{Last: in(-60), Pending: true, Due: in(20)}, false, in(20)},
	} {
		if got := due(test.known, test.wanted, 5*time.Second, now); !got.Equal(test.want) {
			t.Errorf("%s: want %v, got %v", test.name, test.want, got)
		}
	}
}

package calendar

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ask calls a function, and returns when its answer changes.
func ask(t *testing.T, name, now string, args ...string) (out value.Value, flip time.Time, err error) {
	t.Helper()
	call := &expr.Call{Now: at(t, now), Flip: func(at time.Time) { flip = at }}
	for _, f := range Functions() {
		if f.Name == name {
			out, err = f.Do(call, []value.Value{value.OfString(args[0]), value.OfString(args[1])})
		}
	}
	return out, flip, err
}

// TestWithin: whether a time is inside, and when that changes. 2026-03-02 is a Monday;
// in Berlin the clock is put forward on 2026-03-29 and back on 2026-10-25.
func TestWithin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, zone, now string
		is              bool
		flip            string
	}{
		"before":                    {"Mon-Fri 08:00-20:00", "Etc/UTC", "2026-03-02T07:00:00Z", false, "2026-03-02T08:00:00Z"},
		"the very beginning":        {"Mon-Fri 08:00-20:00", "Etc/UTC", "2026-03-02T08:00:00Z", true, "2026-03-02T20:00:00Z"},
		"the very end":              {"Mon-Fri 08:00-20:00", "Etc/UTC", "2026-03-06T20:00:00Z", false, "2026-03-09T08:00:00Z"},
		"over the weekend":          {"Mon-Fri 08:00-20:00", "Etc/UTC", "2026-03-07T12:00:00Z", false, "2026-03-09T08:00:00Z"},
		"one day, just over":        {"Mon 08:00-09:00", "Etc/UTC", "2026-03-02T09:00:00Z", false, "2026-03-09T08:00:00Z"},
		"another zone":              {"08:00-20:00", "Europe/Berlin", "2026-03-02T07:00:00Z", true, "2026-03-02T19:00:00Z"},
		"over midnight":             {"Fri 22:00-06:00", "Etc/UTC", "2026-03-07T05:00:00Z", true, "2026-03-07T06:00:00Z"},
		"over midnight, the day":    {"Fri 22:00-06:00", "Etc/UTC", "2026-03-06T05:00:00Z", false, "2026-03-06T22:00:00Z"},
		"days around the week":      {"Sat-Mon 00:00-24:00", "Etc/UTC", "2026-03-08T12:00:00Z", true, "2026-03-10T00:00:00Z"},
		"always":                    {"00:00-24:00", "Etc/UTC", "2026-03-08T12:00:00Z", true, ""},
		"two that meet":             {"Mon 08:00-12:00; Mon 12:00-13:00", "Etc/UTC", "2026-03-02T09:00:00Z", true, "2026-03-02T13:00:00Z"},
		"two apart":                 {"Mon 08:00-12:00; Tue 12:00-13:00", "Etc/UTC", "2026-03-02T12:00:00Z", false, "2026-03-03T12:00:00Z"},
		"the clock is put forward":  {"Sun 01:00-04:00", "Europe/Berlin", "2026-03-29T00:30:00Z", true, "2026-03-29T02:00:00Z"},
		"in the missing hour":       {"Sun 02:30-03:30", "Europe/Berlin", "2026-03-29T00:30:00Z", false, "2026-03-29T01:00:00Z"},
		"only in the missing hour":  {"Sun 02:00-03:00", "Europe/Berlin", "2026-03-28T00:30:00Z", false, "2026-04-05T00:00:00Z"},
		"of a week without it":      {"Sun 02:00-03:00", "Europe/Berlin", "2026-03-22T12:00:00Z", false, "2026-04-05T00:00:00Z"},
		"no midnight on that day":   {"Sun 08:00-20:00", "America/Santiago", "2026-09-06T15:00:00Z", true, "2026-09-06T23:00:00Z"},
		"as whole words":            {"monday-FRIDAY 08:00-20:00", "Etc/UTC", "2026-03-02T07:00:00Z", false, "2026-03-02T08:00:00Z"},
		"the clock is put back":     {"Sun 01:00-04:00", "Europe/Berlin", "2026-10-24T23:30:00Z", true, "2026-10-25T03:00:00Z"},
		"midnight is in the window": {"Sun 00:00-24:00", "Europe/Berlin", "2026-03-29T20:00:00Z", true, "2026-03-29T22:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, flip, err := ask(t, "time.within", tc.now, tc.text, tc.zone)
			if err != nil || value.IsTrue(got) != tc.is {
				t.Fatalf("got %v, %v; want %v", got, err, tc.is)
			}
			if want := tc.flip; want == "" && !flip.IsZero() || want != "" && !flip.Equal(at(t, want)) {
				t.Errorf("changes at %s, want %q", flip, want)
			}
		})
	}
}

func TestCron(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, zone, now, last, next string }{
		"daily":                    {"0 3 * * *", "Etc/UTC", "2026-03-02T07:00:00Z", "2026-03-02T03:00:00Z", "2026-03-03T03:00:00Z"},
		"the very time":            {"0 3 * * *", "Etc/UTC", "2026-03-02T03:00:00Z", "2026-03-02T03:00:00Z", "2026-03-03T03:00:00Z"},
		"a moment before":          {"0 3 * * *", "Etc/UTC", "2026-03-02T02:59:59.9Z", "2026-03-01T03:00:00Z", "2026-03-02T03:00:00Z"},
		"each minute":              {"* * * * *", "Etc/UTC", "2026-03-02T03:00:30Z", "2026-03-02T03:00:00Z", "2026-03-02T03:01:00Z"},
		"by a name":                {"@monthly", "Etc/UTC", "2026-03-02T03:00:30Z", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"},
		"once a year":              {"0 0 29 6 *", "Etc/UTC", "2026-03-02T03:00:30Z", "2025-06-29T00:00:00Z", "2026-06-29T00:00:00Z"},
		"in leap years":            {"0 0 29 2 *", "Etc/UTC", "2026-03-02T03:00:30Z", "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"},
		"another zone":             {"0 3 * * *", "Europe/Berlin", "2026-03-02T01:30:00Z", "2026-03-01T02:00:00Z", "2026-03-02T02:00:00Z"},
		"the clock is put forward": {"30 1 * * *", "Europe/Berlin", "2026-03-29T05:00:00Z", "2026-03-29T00:30:00Z", "2026-03-29T23:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for function, want := range map[string]string{"cron.last": tc.last, "cron.next": tc.next} {
				got, flip, err := ask(t, function, tc.now, tc.text, tc.zone)
				if err != nil {
					t.Fatal(err)
				}
				if stamp, _ := value.Time(got); !stamp.Equal(at(t, want)) {
					t.Errorf("%s = %s, want %s", function, stamp, want)
				}
				if !flip.Equal(at(t, tc.next)) {
					t.Errorf("%s changes at %s, want %s", function, flip, tc.next)
				}
			}
		})
	}
}

// TestLatest: the last time is the one that counting from one to the next finds.
func TestLatest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"*/7 * * * *", "5,17 */3 * * 1-3", "0 0 1,15 * *", "59 23 31 * *"} {
		s, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		now := at(t, "2026-03-02T03:00:30Z")
		var want time.Time
		for at := s.Next(now.AddDate(0, -3, 0)); !at.After(now); at = s.Next(at) {
			want = at
		}
		got, _, err := ask(t, "cron.last", "2026-03-02T03:00:30Z", text, "Etc/UTC")
		if stamp, _ := value.Time(got); err != nil || !stamp.Equal(want) {
			t.Errorf("%s: %s, %v, want %s", text, stamp, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const now = "2026-03-02T07:00:00Z"
	for _, tc := range []struct{ function, text, zone, want string }{
		{"time.within", "Mon-Fri", "Etc/UTC", "is not a time of the week"},
		{"time.within", "Mo 08:00-09:00", "Etc/UTC", `unknown day "Mo"`},
		{"time.within", "8:00-9:00", "Etc/UTC", `"8:00" is not a time of day`},
		{"time.within", "08:00-08:00", "Etc/UTC", "ends when it begins"},
		{"time.within", "24:00-08:00", "Etc/UTC", `"24:00" is not a time of day`},
		{"time.within", "08:00-09:00", "Europe/Bonn", `"Europe/Bonn" is not a time zone`},
		{"time.within", "08:00-09:00", "Local", `"Local" is not a time zone`},
		{"time.within", "08:00-09:00", "", "is not a time zone"},
		{"cron.next", "0 3 * *", "Etc/UTC", "is not a schedule"},
		{"cron.next", "@every 1h", "Etc/UTC", "@every depends"},
		{"cron.next", "TZ=Asia/Tokyo 0 0 * * *", "UTC", "the time zone is an argument of its own"},
		{"cron.last", "CRON_TZ=Asia/Tokyo 0 0 * * *", "UTC", "the time zone is an argument of its own"},
		{"cron.next", "0 0 30 2 *", "Etc/UTC", "no time within five years"},
		{"cron.last", "0 0 30 2 *", "Etc/UTC", "no time within five years"},
		{"cron.last", strings.Repeat("1,", 200) + "1 * * * *", "Etc/UTC", "at most 256 are allowed"},
	} {
		got, _, err := ask(t, tc.function, now, tc.text, tc.zone)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s(%q, %q) = %v, %v; want %q", tc.function, tc.text, tc.zone, got, err, tc.want)
		}
	}
}

package grace

import (
	"math"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// TestBoundaries: the period is over at the very instant since + period, and
// the answer is asked for again exactly then.
func TestBoundaries(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	never := time.Time{}
	const longest = time.Duration(math.MaxInt64)
	for name, tc := range map[string]struct {
		since  time.Time
		period time.Duration
		holds  bool
		flip   time.Time
	}{
		"in the middle":          {now.Add(-time.Minute), time.Hour, true, now.Add(59 * time.Minute)},
		"a moment before":        {now.Add(-time.Hour + 1), time.Hour, true, now.Add(1)},
		"the very instant":       {now.Add(-time.Hour), time.Hour, false, never},
		"a moment after":         {now.Add(-time.Hour - 1), time.Hour, false, never},
		"no period":              {now, 0, false, never},
		"no period, later":       {now.Add(1), 0, true, now.Add(1)},
		"in the future":          {now.Add(time.Hour), time.Hour, true, now.Add(2 * time.Hour)},
		"a negative period":      {now.Add(time.Hour), -time.Minute, true, now.Add(59 * time.Minute)},
		"a negative one, over":   {now, -time.Minute, false, never},
		"another time zone":      {now.In(time.FixedZone("", 7200)), time.Second, true, now.Add(time.Second)},
		"parts of seconds":       {now.Add(-time.Second), 1500 * time.Millisecond, true, now.Add(500 * time.Millisecond)},
		"the zero time":          {never, time.Hour, false, never},
		"the longest period":     {now, longest, true, now.Add(longest)},
		"the zero time, longest": {never, longest, false, never},
		"far in the future":      {time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), longest, true, never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, want := range []bool{tc.holds, !tc.holds} { // grace.holds and elapsed
				flip := never
				call := &expr.Call{Now: now, Flip: func(at time.Time) { flip = at }}
				got, err := Functions()[i].Do(call, []value.Value{value.OfTime(tc.since), value.OfDuration(tc.period)})
				if err != nil || value.IsTrue(got) != want {
					t.Errorf("%s gives %v, %v", Functions()[i].Name, got, err)
				}
				if !flip.Equal(tc.flip) {
					t.Errorf("%s changes at %v, not at %v", Functions()[i].Name, flip, tc.flip)
				}
			}
		})
	}
}

// TestOverflow: an end beyond what time.Time can hold is never reached.
func TestOverflow(t *testing.T) {
	t.Parallel()
	since := time.Unix(1<<62, 0)
	if end := add(since, time.Duration(math.MaxInt64)); end.Before(since) {
		t.Errorf("the end %v lies before the beginning", end)
	}
}

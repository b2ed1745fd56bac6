package run

import (
	"testing"
	"time"
)

// TestOver: a time has passed if either clock says so.
func TestOver(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const step = time.Hour
	for name, tc := range map[string]struct {
		until time.Time
		want  bool
	}{
		"to come, by both clocks":        {now.Add(step), false},
		"passed, by both":                {now.Add(-step), true},
		"to come, by that of the system": {now.Round(0).Add(step), false},
		"passed, by that of the system":  {now.Round(0).Add(-step), true},
		"never renewed":                  {time.Time{}, true},
	} {
		if got := over(tc.until); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	var i instant
	if got := i.get(); !got.IsZero() {
		t.Errorf("never is %v", got)
	}
	if i.set(now); i.get() != now {
		t.Errorf("%v is %v", now, i.get())
	}
}

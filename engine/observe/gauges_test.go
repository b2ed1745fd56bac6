package observe

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestGauges: a series that is set again is never dropped between, one that is no longer
// set is dropped, and those of others stay.
func TestGauges(t *testing.T) {
	t.Parallel()
	vec := gauge([]string{"policy", "reason"}, "test", "")
	var g Gauges
	vec.WithLabelValues("other", "x").Set(7)
	g.Set(map[Series]float64{SeriesOf(vec, "a", "x"): 1, SeriesOf(vec, "a", ""): 2})
	kept := vec.WithLabelValues("a", "x")
	g.Set(map[Series]float64{SeriesOf(vec, "a", "x"): 3})
	if kept != vec.WithLabelValues("a", "x") || testutil.ToFloat64(kept) != 3 {
		t.Error("a series that stays was dropped in between")
	}
	if n := testutil.CollectAndCount(vec); n != 2 || testutil.ToFloat64(vec.WithLabelValues("other", "x")) != 7 {
		t.Errorf("%d series, want the one that stays and that of others", n)
	}
}

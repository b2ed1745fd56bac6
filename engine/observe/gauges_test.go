package observe

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestGauges: a series that is set again is never dropped between, one that is no longer
// set is dropped, and those of others stay.
func TestGauges(t *testing.T) {
	t.Parallel()
	vec := gauge([]string{labelSet, labelPolicy, "reason"}, "test", "")
	var g Gauges
	vec.WithLabelValues("other/a", "x").Set(7)
	g.Set(map[Series]float64{SeriesOf(vec, "s/a", "x"): 1, SeriesOf(vec, "s/a", ""): 2})
	kept := vec.WithLabelValues("s/a", "x")
	g.Set(map[Series]float64{SeriesOf(vec, "s/a", "x"): 3})
	if kept != vec.WithLabelValues("s/a", "x") || testutil.ToFloat64(kept) != 3 {
		t.Error("a series that stays was dropped in between")
	}
	if n := testutil.CollectAndCount(vec); n != 2 || testutil.ToFloat64(vec.WithLabelValues("other/a", "x")) != 7 {
		t.Errorf("%d series, want the one that stays and that of others", n)
	}
}

package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestRest: of who no longer leads, nothing seems to run, to wait or to be
// refused; what was counted stays.
func TestRest(t *testing.T) {
	c := Of("s/p", "r")
	c.Evaluations.Inc()
	c.Remembered.Inc()
	Failed.WithLabelValues("s/p").Set(1)
	Adopted("s/p", "r", "", "")
	Rest()
	for want, list := range map[int][]prometheus.Collector{0: {Failed, Info, Remembered}, 1: {Evaluations}} {
		for _, m := range list {
			found := make(chan prometheus.Metric, 10)
			m.Collect(found)
			if len(found) != want {
				t.Errorf("%d series, want %d", len(found), want)
			}
		}
	}
}

// TestLabels: a policy of a set has the labels policyset and policy; one of a file has no set.
func TestLabels(t *testing.T) {
	for policy, want := range map[string]prometheus.Labels{"s/p": {"policyset": "s", "policy": "p"}, "p": {"policyset": "", "policy": "p"}} {
		if diff := cmp.Diff(want, Labels(policy)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", policy, diff)
		}
		Failed.WithLabelValues(policy).Set(2)
		if got := testutil.ToFloat64(Failed.With(Labels(policy))); got != 2 {
			t.Errorf("%s: the gauge is %v", policy, got)
		}
		Failed.Reset()
	}
}

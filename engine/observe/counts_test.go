package observe

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestRest: of who no longer leads, nothing seems to run, to wait or to be
// refused; what was counted stays.
func TestRest(t *testing.T) {
	c := Of("p", "r")
	c.Evaluations.Inc()
	c.Remembered.Inc()
	Failed.WithLabelValues("p").Set(1)
	ConfigMapErrors.WithLabelValues("m").Set(1)
	Adopted("p", "r", "", "")
	Rest()
	for want, list := range map[int][]prometheus.Collector{0: {Failed, ConfigMapErrors, Info, Remembered}, 1: {Evaluations}} {
		for _, m := range list {
			found := make(chan prometheus.Metric, 10)
			m.Collect(found)
			if len(found) != want {
				t.Errorf("%d series, want %d", len(found), want)
			}
		}
	}
}

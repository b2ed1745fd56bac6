package brakes

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/observe"
)

// gauges are the series of the brakes that have a value. Those that no
// longer have one are dropped; none is missing for a moment, or an alert would
// begin again.
type gauges struct{ shown map[series]bool }

// series is one of a metric; reason is "" where the metric has none.
type series struct {
	of             *prometheus.GaugeVec
	policy, reason string
}

func (s series) labels() []string {
	if s.reason == "" {
		return []string{s.policy}
	}
	return []string{s.policy, s.reason}
}

// set sets the metrics of the brakes.
func (g *gauges) set(states map[string]*brake.State) {
	values := map[series]int{}
	for policy, s := range states {
		for i := range s.Pauses {
			values[series{observe.Paused, policy, string(s.Pauses[i].Reason)}] = 1
		}
		for reason, n := range s.Kept {
			values[series{observe.KeptBack, policy, string(reason)}] = n
		}
		values[series{of: observe.Slowed, policy: policy}] = len(s.Slowed)
		values[series{of: observe.Contested, policy: policy}] = len(s.Contested)
		values[series{of: observe.Holds, policy: policy}] = len(s.Holds)
	}
	before := g.shown
	g.shown = map[series]bool{}
	for one, n := range values {
		if n > 0 {
			g.shown[one] = true
			one.of.WithLabelValues(one.labels()...).Set(float64(n))
		}
	}
	for one := range before {
		if !g.shown[one] {
			one.of.DeleteLabelValues(one.labels()...)
		}
	}
}

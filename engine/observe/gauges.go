package observe

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Gauges are the series that one part of the program sets, all of them each time. Those
// that are no longer set are dropped; none is missing for a moment, or an alert would begin
// again. It is not for concurrent use.
type Gauges struct{ shown map[Series]bool }

// Series is one of a gauge.
type Series struct {
	of     *prometheus.GaugeVec
	values string // of the labels, separated by what no label has
}

const separator = "\x00"

// SeriesOf returns the series of a gauge of a policy, with the values of further labels.
func SeriesOf(of GaugeVec, policy string, more ...string) Series {
	return Series{of.GaugeVec, strings.Join(valuesOf(policy, more), separator)}
}

func (s Series) labels() []string { return strings.Split(s.values, separator) }

// Set sets series, and drops all others that it has set before.
func (g *Gauges) Set(values map[Series]float64) {
	before := g.shown
	g.shown = make(map[Series]bool, len(values))
	for one, value := range values {
		g.shown[one] = true
		one.of.WithLabelValues(one.labels()...).Set(value)
	}
	for one := range before {
		if !g.shown[one] {
			one.of.DeleteLabelValues(one.labels()...)
		}
	}
}

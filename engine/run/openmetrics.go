package run

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// keepingNames makes counters untyped whose names do not end in _total. OpenMetrics
// would append that to their names, so that a metric of a policy had another name
// for a client that takes OpenMetrics than for others.
type keepingNames struct{ prometheus.Gatherer }

// Gather implements prometheus.Gatherer.
func (g keepingNames) Gather() ([]*dto.MetricFamily, error) {
	families, err := g.Gatherer.Gather()
	for _, f := range families {
		if f.GetType() == dto.MetricType_COUNTER && !strings.HasSuffix(f.GetName(), "_total") {
			untype(f)
		}
	}
	return families, err
}

func untype(f *dto.MetricFamily) {
	f.Type = dto.MetricType_UNTYPED.Enum()
	for _, m := range f.Metric {
		m.Untyped, m.Counter = &dto.Untyped{Value: m.Counter.Value}, nil
	}
}

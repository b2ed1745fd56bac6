package run

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/reconcile"
)

var (
	objectsDesc = prometheus.NewDesc("edict_policy_objects", "Objects that this installation decides about.", []string{"policyset", "policy"}, nil)
	leftDesc    = prometheus.NewDesc("edict_policy_left_objects", "Objects that this installation leaves to others, by its --watch-label-selector.", []string{"policyset", "policy"}, nil)
)

// objectCounts collects the numbers of objects of the policies.
type objectCounts struct {
	controllers func() []*reconcile.Controller
}

// Describe implements prometheus.Collector.
func (objectCounts) Describe(to chan<- *prometheus.Desc) { to <- objectsDesc; to <- leftDesc }

// Collect implements prometheus.Collector.
func (o objectCounts) Collect(to chan<- prometheus.Metric) {
	seen := map[string]bool{} // a policy that is rolled out has two controllers
	for _, c := range o.controllers() {
		id := c.Policy.ID()
		if seen[id] {
			continue
		}
		seen[id] = true
		to <- prometheus.MustNewConstMetric(objectsDesc, prometheus.GaugeValue, float64(c.Count()), c.Policy.Set, c.Policy.Name)
		to <- prometheus.MustNewConstMetric(leftDesc, prometheus.GaugeValue, float64(c.Left()), c.Policy.Set, c.Policy.Name)
	}
}

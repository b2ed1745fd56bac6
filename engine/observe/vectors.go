package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/identity"
)

// The labels that identify a policy.
const (
	labelSet    = "policyset"
	labelPolicy = "policy"
)

// CounterVec is a counter of policies.
type CounterVec struct{ *prometheus.CounterVec }

// GaugeVec is a gauge of policies.
type GaugeVec struct{ *prometheus.GaugeVec }

// HistogramVec is a histogram of policies.
type HistogramVec struct{ *prometheus.HistogramVec }

func counter(labels []string, name, help string) CounterVec {
	return CounterVec{plain(labels, name, help)}
}

func gauge(labels []string, name, help string) GaugeVec {
	return GaugeVec{prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)}
}

func histogram(of prometheus.HistogramOpts, labels []string) HistogramVec {
	return HistogramVec{prometheus.NewHistogramVec(of, labels)}
}

// WithLabelValues returns the counter of a policy, by its ID.
func (v CounterVec) WithLabelValues(policy string, more ...string) prometheus.Counter {
	return v.CounterVec.WithLabelValues(valuesOf(policy, more)...)
}

// WithLabelValues returns the gauge of a policy, by its ID.
func (v GaugeVec) WithLabelValues(policy string, more ...string) prometheus.Gauge {
	return v.GaugeVec.WithLabelValues(valuesOf(policy, more)...)
}

// WithLabelValues returns the histogram of a policy, by its ID.
func (v HistogramVec) WithLabelValues(policy string, more ...string) prometheus.Observer {
	return v.HistogramVec.WithLabelValues(valuesOf(policy, more)...)
}

func valuesOf(policy string, more []string) []string {
	set, name := identity.ParsePolicyID(policy)
	return append([]string{set, name}, more...)
}

// Labels returns the labels of a policy.
func Labels(policy string) prometheus.Labels {
	set, name := identity.ParsePolicyID(policy)
	return prometheus.Labels{labelSet: set, labelPolicy: name}
}

// labelsOf returns the labels of a revision of a policy.
func labelsOf(policy, revision string) prometheus.Labels {
	out := Labels(policy)
	out["revision"] = revision
	return out
}

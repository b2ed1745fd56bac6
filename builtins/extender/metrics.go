package extender

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// The values of the label result besides those of the classes.
const resultOK = "ok"

// results are all values of the label result.
var results = []string{
	resultOK, string(ClassTransport), string(ClassTimeout), string(ClassTLS), string(ClassStatus), string(ClassDecode),
	string(ClassTooLarge), string(ClassCircuitOpen), string(ClassCanceled),
}

// states are all values of the label state.
var states = []string{"closed", "half-open", "open"}

// metrics are those of one client.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	circuit  *prometheus.Desc
}

func newMetrics() *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edict_extender_requests_total",
			Help: "Requests to the scheduler extender by what became of them.",
		}, []string{"call", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "edict_extender_request_seconds",
			Help: "Time that the scheduler extender took to answer, or to fail.",
		}, []string{"call"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "edict_extender_in_flight", Help: "Requests to the scheduler extender under way.",
		}),
		circuit: prometheus.NewDesc("edict_extender_circuit_state",
			"1 for the present state of the circuit to the scheduler extender.", []string{"state"}, nil),
	}
	return m
}

// callMetrics are those of a call. The series that nearly every request counts in need
// not be looked for.
type callMetrics struct {
	*metrics
	call     string
	took     prometheus.Observer
	answered prometheus.Counter
}

// of makes the series of a call, so that the first failure of a kind is a
// step from 0 and not a series out of nowhere.
func (m *metrics) of(call string) callMetrics {
	for _, result := range results {
		m.requests.WithLabelValues(call, result)
	}
	return callMetrics{m, call, m.seconds.WithLabelValues(call), m.requests.WithLabelValues(call, resultOK)}
}

// count records what became of a request.
func (m *callMetrics) count(err error) {
	if failure, ok := errors.AsType[*Error](err); ok {
		m.requests.WithLabelValues(m.call, string(failure.Class)).Inc()
		return
	}
	m.answered.Inc()
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.seconds, m.inFlight}
}

// Describe implements prometheus.Collector.
func (c *Client) Describe(to chan<- *prometheus.Desc) {
	for _, inner := range c.metrics.collectors() {
		inner.Describe(to)
	}
	to <- c.metrics.circuit
}

// Collect implements prometheus.Collector.
func (c *Client) Collect(to chan<- prometheus.Metric) {
	for _, inner := range c.metrics.collectors() {
		inner.Collect(to)
	}
	present := c.State()
	for _, state := range states {
		is := 0.0
		if state == present {
			is = 1
		}
		to <- prometheus.MustNewConstMetric(c.metrics.circuit, prometheus.GaugeValue, is, state)
	}
}

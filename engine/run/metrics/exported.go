package metrics

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/value"
)

// exported is one metric.
type exported struct {
	metric    *plan.Metric
	policy    string
	collector prometheus.Collector
	counter   *prometheus.CounterVec
	gauge     prometheus.Gauge
	wait      prometheus.Histogram
	// seen are the series that there are, by the values of their labels, and size
	// how many.
	seen sync.Map
	size atomic.Int64
}

func (e *Policies) newExported(policy *plan.Policy, m *plan.Metric) *exported {
	help := cmp.Or(m.Help, string(m.Of)+" of the policy "+policy.ID()+".")
	s := &exported{metric: m, policy: policy.ID()}
	switch m.Of {
	case plan.LeaderState:
		s.gauge = prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: help})
		s.collector = s.gauge
		if e.options.Leading() {
			s.gauge.Set(1)
		}
	case plan.LeaderAcquire:
		s.wait = prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.Name, Help: help, Buckets: m.Buckets})
		s.collector = s.wait
	case plan.QueuePending:
		id := policy.ID()
		s.collector = prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.Name, Help: help}, func() float64 { return float64(e.options.Pending(id)) })
	case plan.BuildInfo:
		info := prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: help, ConstLabels: prometheus.Labels{"version": e.options.Version, "revision": policy.Revision}})
		info.Set(1)
		s.collector = info
	default:
		s.counter = prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: help}, labelNames(m))
		if len(labelNames(m)) == 0 {
			s.counter.WithLabelValues().Add(0) // there from the beginning
		}
		s.collector = s.counter
	}
	return s
}

func labelNames(m *plan.Metric) (out []string) {
	for _, l := range m.Labels {
		out = append(out, l.Name)
	}
	if m.Of == plan.LeaderTransition {
		return []string{"transition"}
	}
	return out
}

// Report counts the result of a reconciliation.
func (e *Policies) Report(ctx context.Context, c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for i := range c.Policy.Metrics {
		m := &c.Policy.Metrics[i]
		s := e.series[m.Name]
		if s == nil || s.counter == nil || s.metric != m && !alike(s.metric, m) { // a new revision that is rolled out has its own
			continue
		}
		if n := happened(m, c.Policy, r); n > 0 {
			s.count(c.Labels(ctx, key, time.Now(), m.Labels), n)
		}
	}
}

const (
	// maxSeries is how many series one metric of a policy may have: what its labels
	// say is the policy's to choose, and often data.
	maxSeries = 1000
	// maxLabelValue is the length of a label's value, in bytes.
	maxLabelValue = 256
)

// count adds to the series of some labels. Beyond maxSeries it adds to one whose
// labels say so. The library panics on a value that is not UTF-8.
func (s *exported) count(labels map[string]string, n int) {
	values := make([]string, 0, len(labels))
	for _, name := range labelNames(s.metric) {
		text := strings.ToValidUTF8(value.Cut(labels[name], maxLabelValue), "\uFFFD")
		labels[name] = text
		values = append(values, text)
	}
	id := strings.Join(values, "\x00")
	if _, known := s.seen.LoadOrStore(id, true); !known && s.size.Add(1) > maxSeries {
		s.seen.Delete(id)
		s.size.Add(-1)
		for name := range labels {
			labels[name] = "(too many)"
		}
		observe.DroppedSeries.WithLabelValues(s.policy, s.metric.Name).Inc()
	}
	s.counter.With(labels).Add(float64(n))
}

// happened counts what a metric counts in a result.
func happened(m *plan.Metric, p *plan.Policy, r reconcile.Result) (n int) {
	wants := func(rule int) bool { return m.Rule == "" || p.Rules[rule].Name == m.Rule }
	switch m.Of {
	case plan.EffectWritten, plan.EffectFailed:
		for _, o := range r.Outcomes {
			written := o.Written() && o.Effect.Verb != eval.VerbEvent
			if wants(o.Effect.Rule) && (m.Of == plan.EffectWritten && written || m.Of == plan.EffectFailed && o.Err != nil) {
				n++
			}
		}
	case plan.RuleDebounced:
		n = count(r.PutOff, wants)
	case plan.RuleRetried:
		n = count(r.Retried, wants)
	}
	return n
}

func count(rules []int, wants func(int) bool) (n int) {
	for _, rule := range rules {
		if wants(rule) {
			n++
		}
	}
	return n
}

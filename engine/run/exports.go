package run

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// exports are the metrics that policies export under names of their own. They
// belong to the process: counters do not begin anew with a term.
type exports struct {
	counters map[*plan.Metric]*prometheus.CounterVec
	gauges   map[*plan.Metric]prometheus.Gauge
	waits    map[*plan.Metric]prometheus.Histogram
	policies []*plan.Policy
}

// newExports makes and registers the metrics of all policies.
func newExports(p *process) (*exports, error) {
	e := &exports{counters: map[*plan.Metric]*prometheus.CounterVec{}, gauges: map[*plan.Metric]prometheus.Gauge{}, waits: map[*plan.Metric]prometheus.Histogram{}}
	for _, policy := range p.bundle.Policies {
		if policy.Disabled {
			continue
		}
		e.policies = append(e.policies, policy)
		for i := range policy.Metrics {
			if err := p.Registry.Register(e.collector(p, policy, &policy.Metrics[i])); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

func (e *exports) collector(p *process, policy *plan.Policy, m *plan.Metric) prometheus.Collector {
	help := m.Help
	if help == "" {
		help = string(m.Of) + " of the policy " + policy.Name + "."
	}
	switch m.Of {
	case plan.LeaderState:
		e.gauges[m] = prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: help})
		return e.gauges[m]
	case plan.LeaderAcquire:
		e.waits[m] = prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.Name, Help: help, Buckets: m.Buckets})
		return e.waits[m]
	case plan.QueuePending:
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.Name, Help: help}, func() float64 { return float64(p.term.Load().pending(policy.Name)) })
	case plan.BuildInfo:
		info := prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: help, ConstLabels: prometheus.Labels{"version": p.Version, "revision": policy.Revision}})
		info.Set(1)
		return info
	}
	var labels []string
	for _, l := range m.Labels {
		labels = append(labels, l.Name)
	}
	if m.Of == plan.LeaderTransition {
		labels = []string{"transition"}
	}
	e.counters[m] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: help}, labels)
	if len(labels) == 0 {
		e.counters[m].WithLabelValues().Add(0) // there from the beginning
	}
	return e.counters[m]
}

// pending counts what waits in a policy.
func (t *term) pending(policy string) int {
	if t == nil {
		return 0
	}
	for _, c := range t.group.Controllers() {
		if c.Policy.Name == policy {
			return c.Pending()
		}
	}
	return 0
}

// report counts what became of a key.
func (e *exports) report(ctx context.Context, c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	for _, policy := range e.policies {
		if policy.Name != c.Policy.Name {
			continue
		}
		for i := range policy.Metrics {
			m := &policy.Metrics[i]
			if n := happened(m, c.Policy, r); n > 0 {
				e.counters[m].With(c.Labels(ctx, key, time.Now(), m.Labels)).Add(float64(n))
			}
		}
	}
}

// happened counts what a metric counts in a result.
func happened(m *plan.Metric, p *plan.Policy, r reconcile.Result) (n int) {
	wants := func(rule int) bool { return m.Rule == "" || p.Rules[rule].Name == m.Rule }
	switch m.Of {
	case plan.EffectWritten, plan.EffectFailed:
		for _, o := range r.Outcomes {
			written := o.Err == nil && !o.Skipped && !o.Gone && o.Effect.Verb != eval.VerbEvent
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

// each visits the metrics of a happening that is not about a key.
func (e *exports) each(of plan.Happening, policy string, visit func(*plan.Metric)) {
	for _, p := range e.policies {
		for i := range p.Metrics {
			if p.Metrics[i].Of == of && (policy == "" || p.Name == policy) {
				visit(&p.Metrics[i])
			}
		}
	}
}

// dropped counts what a flush could not do.
func (e *exports) dropped(policy string, n int) {
	e.each(plan.RuleDropped, policy, func(m *plan.Metric) { e.counters[m].WithLabelValues().Add(float64(n)) })
}

// transition counts a change of leadership.
func (e *exports) transition(leads bool) {
	name, state := "lost", 0.0
	if leads {
		name, state = "acquired", 1
	}
	e.each(plan.LeaderTransition, "", func(m *plan.Metric) { e.counters[m].WithLabelValues(name).Inc() })
	e.each(plan.LeaderState, "", func(m *plan.Metric) { e.gauges[m].Set(state) })
}

// acquired notes how long the lead was waited for.
func (e *exports) acquired(after time.Duration) {
	e.each(plan.LeaderAcquire, "", func(m *plan.Metric) { e.waits[m].Observe(after.Seconds()) })
}

// watch counts something about watches.
func (e *exports) watch(of plan.Happening) {
	e.each(of, "", func(m *plan.Metric) { e.counters[m].WithLabelValues().Inc() })
}

// watches sees every watch that is opened: the second of one kind, and those
// after it, are reconnects.
type watches struct {
	http.RoundTripper
	again func()

	mu   sync.Mutex
	seen map[string]bool
}

// RoundTrip implements http.RoundTripper.
func (w *watches) RoundTrip(r *http.Request) (*http.Response, error) {
	if q := r.URL.Query(); q.Get("watch") == "true" || q.Get("watch") == "1" {
		id := strings.Join([]string{r.URL.Path, q.Get("labelSelector"), q.Get("fieldSelector")}, "?")
		w.mu.Lock()
		known := w.seen[id]
		w.seen[id] = true
		w.mu.Unlock()
		if known {
			w.again()
		}
	}
	return w.RoundTripper.RoundTrip(r)
}

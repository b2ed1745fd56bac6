package run

import (
	"context"
	"fmt"
	"slices"
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

// exports are the metrics that policies export under names of their own. They
// belong to the process: counters do not begin anew with a term, nor with
// another revision of a policy that still exports them.
type exports struct {
	mu       sync.RWMutex
	series   map[string]*exported // by name
	policies map[string]*plan.Policy
	// waits and changes are of leadership so far, for whoever begins to export
	// them later.
	waits   []float64
	changes map[string]int
}

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

func newExports() *exports {
	return &exports{series: map[string]*exported{}, policies: map[string]*plan.Policy{}, changes: map[string]int{}}
}

// adopt exports the metrics of a revision, and ceases to export those that only
// the one before had, which may be of an earlier term. Either may be nil.
func (e *exports) adopt(p *process, old, next *plan.Policy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if old == nil && next != nil {
		old = e.policies[next.ID()]
	}
	if old != nil && old.Mode != plan.Shadow {
		delete(e.policies, old.ID())
		for i := range old.Metrics {
			if m := &old.Metrics[i]; !continues(m, next) {
				e.remove(p, old, m)
			}
		}
	}
	if next == nil || next.Mode == plan.Shadow { // whoever only looks on has done nothing
		return
	}
	e.policies[next.ID()] = next
	for i := range next.Metrics {
		if err := e.add(p, next, &next.Metrics[i]); err != nil {
			p.Log.Error("a metric cannot be exported", observe.LogPolicy, next.Name, "metric", next.Metrics[i].Name, "error", err.Error())
		}
	}
}

// continues reports whether a policy goes on exporting a metric as it is.
func continues(m *plan.Metric, p *plan.Policy) bool {
	return p != nil && slices.ContainsFunc(p.Metrics, func(n plan.Metric) bool {
		return n.Name == m.Name && n.Of == m.Of && n.Of != plan.BuildInfo && slices.Equal(labelNames(&n), labelNames(m)) && slices.Equal(n.Buckets, m.Buckets)
	})
}

func (e *exports) remove(p *process, policy *plan.Policy, m *plan.Metric) {
	if s := e.series[m.Name]; s != nil && s.policy == policy.ID() {
		p.Registry.Unregister(s.collector)
		delete(e.series, m.Name)
	}
}

func (e *exports) add(p *process, policy *plan.Policy, m *plan.Metric) error {
	if s := e.series[m.Name]; s != nil {
		if s.policy != policy.ID() {
			return fmt.Errorf("the policy %s exports it already", s.policy)
		}
		s.metric = m
		return nil
	}
	s := newExported(p, policy, m)
	e.catchUp(s)
	if err := p.Registry.Register(s.collector); err != nil {
		return err
	}
	e.series[m.Name] = s
	return nil
}

// catchUp counts what happened before a metric was exported.
func (e *exports) catchUp(s *exported) {
	switch s.metric.Of {
	case plan.LeaderAcquire:
		for _, wait := range e.waits {
			s.wait.Observe(wait)
		}
	case plan.LeaderTransition:
		for name, n := range e.changes {
			s.counter.WithLabelValues(name).Add(float64(n))
		}
	}
}

func newExported(p *process, policy *plan.Policy, m *plan.Metric) *exported {
	help := m.Help
	if help == "" {
		help = string(m.Of) + " of the policy " + policy.Name + "."
	}
	s := &exported{metric: m, policy: policy.ID()}
	switch m.Of {
	case plan.LeaderState:
		s.gauge = prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: help})
		s.collector = s.gauge
		if p.leader.Load() {
			s.gauge.Set(1)
		}
	case plan.LeaderAcquire:
		s.wait = prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.Name, Help: help, Buckets: m.Buckets})
		s.collector = s.wait
	case plan.QueuePending:
		id := policy.ID()
		s.collector = prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.Name, Help: help}, func() float64 { return float64(p.term.Load().pending(id)) })
	case plan.BuildInfo:
		info := prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: help, ConstLabels: prometheus.Labels{"version": p.Version, "revision": policy.Revision}})
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

// pending counts what waits in a policy.
func (t *term) pending(id string) int {
	if t == nil {
		return 0
	}
	for _, c := range t.group.Controllers() {
		if c.Policy.ID() == id {
			return c.Pending()
		}
	}
	return 0
}

// report counts what became of a key.
func (e *exports) report(ctx context.Context, c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for i := range c.Policy.Metrics {
		m := &c.Policy.Metrics[i]
		s := e.series[m.Name]
		if s == nil || s.counter == nil || s.metric != m {
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
func (e *exports) each(of plan.Happening, policy string, visit func(*exported)) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, s := range e.series {
		if s.metric.Of == of && (policy == "" || s.policy == policy) {
			visit(s)
		}
	}
}

// dropped counts what a flush could not do.
func (e *exports) dropped(policy string, n int) {
	e.each(plan.RuleDropped, policy, func(s *exported) { s.counter.WithLabelValues().Add(float64(n)) })
}

// transition counts a change of leadership.
func (e *exports) transition(leads bool) {
	name, state := "lost", 0.0
	if leads {
		name, state = "acquired", 1
	}
	e.mu.Lock()
	e.changes[name]++
	e.mu.Unlock()
	e.each(plan.LeaderTransition, "", func(s *exported) { s.counter.WithLabelValues(name).Inc() })
	e.each(plan.LeaderState, "", func(s *exported) { s.gauge.Set(state) })
}

// acquired notes how long the lead was waited for.
func (e *exports) acquired(after time.Duration) {
	e.mu.Lock()
	e.waits = append(e.waits, after.Seconds())
	e.mu.Unlock()
	e.each(plan.LeaderAcquire, "", func(s *exported) { s.wait.Observe(after.Seconds()) })
}

// watch counts something about watches.
func (e *exports) watch(of plan.Happening) {
	e.each(of, "", func(s *exported) { s.counter.WithLabelValues().Inc() })
}

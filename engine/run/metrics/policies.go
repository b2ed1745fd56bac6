// Package metrics exports the metrics that policies define, under names of their
// own. Those of the engine are in engine/observe.
package metrics

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
)

// Policies are the metrics of all policies. They belong to the process: counters
// are not reset when leadership changes, nor by another revision of a policy that
// still exports them.
type Policies struct {
	options Options

	mu       sync.RWMutex
	series   map[string]*exported // by name
	policies map[string]*plan.Policy
	// waits and changes are of leadership so far, for metrics that are exported
	// later.
	waits   []float64
	changes map[string]int
}

// Options are what the metrics are made from.
type Options struct {
	Registry prometheus.Registerer
	Log      *slog.Logger
	// Version is that of the program.
	Version string
	// Leading reports whether this process leads.
	Leading func() bool
	// Pending returns how many runs are pending for a policy.
	Pending func(id string) int
}

// New returns no metrics.
func New(o Options) *Policies {
	return &Policies{options: o, series: map[string]*exported{}, policies: map[string]*plan.Policy{}, changes: map[string]int{}}
}

// Replace exports the metrics of a revision, and no longer those that only the one
// before had. Either may be nil.
func (e *Policies) Replace(old, next *plan.Policy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if old == nil && next != nil {
		old = e.policies[next.ID()]
	}
	if old != nil && old.Mode != plan.Shadow {
		delete(e.policies, old.ID())
		for i := range old.Metrics {
			if m := &old.Metrics[i]; next == nil || !slices.ContainsFunc(next.Metrics, func(n plan.Metric) bool { return n.Of != plan.BuildInfo && alike(&n, m) }) {
				e.remove(old, m)
			}
		}
	}
	if next == nil || next.Mode == plan.Shadow { // it writes nothing
		return
	}
	e.policies[next.ID()] = next
	for i := range next.Metrics {
		if err := e.add(next, &next.Metrics[i]); err != nil {
			e.options.Log.Error("a metric cannot be exported", observe.LogPolicy, next.ID(), "metric", next.Metrics[i].Name, "error", err.Error())
		}
	}
}

// alike reports whether two metrics have the same series.
func alike(a, b *plan.Metric) bool {
	return a.Name == b.Name && a.Of == b.Of && slices.Equal(labelNames(a), labelNames(b)) && slices.Equal(a.Buckets, b.Buckets)
}

func (e *Policies) remove(policy *plan.Policy, m *plan.Metric) {
	if s := e.series[m.Name]; s != nil && s.policy == policy.ID() {
		e.options.Registry.Unregister(s.collector)
		delete(e.series, m.Name)
	}
}

func (e *Policies) add(policy *plan.Policy, m *plan.Metric) error {
	if s := e.series[m.Name]; s != nil {
		if s.policy != policy.ID() {
			return fmt.Errorf("the policy %s exports it already", s.policy)
		}
		s.metric = m
		return nil
	}
	s := e.newExported(policy, m)
	e.catchUp(s)
	if err := e.options.Registry.Register(s.collector); err != nil {
		return err
	}
	e.series[m.Name] = s
	return nil
}

// catchUp counts what happened before a metric was exported.
func (e *Policies) catchUp(s *exported) {
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

// each visits the metrics of a happening that is not about a key.
func (e *Policies) each(of plan.Happening, policy string, visit func(*exported)) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, s := range e.series {
		if s.metric.Of == of && (policy == "" || s.policy == policy) {
			visit(s)
		}
	}
}

// Dropped counts pending runs that were lost.
func (e *Policies) Dropped(policy string, n int) {
	e.each(plan.RuleDropped, policy, func(s *exported) { s.counter.WithLabelValues().Add(float64(n)) })
}

// Transition counts a change of leadership.
func (e *Policies) Transition(leads bool) {
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

// Acquired counts how long the process waited for leadership.
func (e *Policies) Acquired(after time.Duration) {
	e.mu.Lock()
	e.waits = append(e.waits, after.Seconds())
	e.mu.Unlock()
	e.each(plan.LeaderAcquire, "", func(s *exported) { s.wait.Observe(after.Seconds()) })
}

// Watch counts a failure or a reconnect of a watch.
func (e *Policies) Watch(of plan.Happening) {
	e.each(of, "", func(s *exported) { s.counter.WithLabelValues().Inc() })
}

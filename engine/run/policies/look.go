package policies

import (
	"context"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// look brings the running policies up to the ConfigMaps, and writes their status.
func (m *Manager) look(ctx context.Context) error {
	select { // changes until now are looked at now
	case <-m.wake:
	default:
	}
	catalog, err := m.options.Store.Catalog(&m.cache, m.options.Params)
	if err != nil {
		return err
	}
	m.history.hold(catalog, m.policies)
	m.unlabelled.update(catalog)
	m.rollouts.retry(catalog)
	m.options.Checker.All(ctx, catalog, m.policies, m.history.wasInForce)
	m.catalog = catalog
	if m.first {
		m.warnUnknownPolicies(catalog)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.tests.Next(ctx, catalog, m.policies, m.options.Runtime.Go)
	m.rollouts.update(catalog)
	m.rollouts.confirm(ctx, catalog)
	m.assigner.assign(catalog, m.first)
	m.first = false
	m.options.Runtime.Brakes().Brakes().Retain(func(policy string) bool { return m.assigner.there(policy, catalog) })
	m.write(ctx, catalog)
	if m.policies.Settled() && len(m.wake) == 0 {
		m.behind.Store(false)
	}
	return nil
}

// unmeasure drops the series of the metrics: the next leader has its own.
func (m *Manager) unmeasure() {
	m.reporter.gauges.Set(nil)
	m.errors.gauges.Set(nil)
}

// write writes the history and the status.
func (m *Manager) write(ctx context.Context, catalog *source.Catalog) {
	unkept := m.history.keepInForce(ctx, m.policies.TakeActivated())
	unkept = m.history.keep(ctx, catalog, m.policies) || unkept
	reports := append(m.reporter.reports(catalog), m.unlabelled.reports(ctx)...)
	unwritten := m.status.write(ctx, reports, m.unlabelled.annotations)
	m.unfinished = unkept || unwritten
	for _, n := range m.options.Runtime.Brakes().TakeNews() {
		m.status.brakeEvent(n, m.unlabelled.reference(m.reporter.originOf(catalog, n.Policy)))
	}
	for _, n := range m.rollouts.takeNews() {
		m.status.rolloutEvent(n.text, m.unlabelled.reference(n.configMap))
	}
	m.reporter.measure(catalog, m.history.stopped)
	m.errors.report(reports)
}

// recheck has a text checked again that another check may judge otherwise, and reports
// whether there is anything to do now.
func (m *Manager) recheck(ctx context.Context) (any bool) {
	for _, id := range m.policies.Checked() {
		if p := m.policies.Get(id); m.catalog != nil && m.due(&p) {
			m.rechecks.Start(ctx, id, p.Newest, m.catalog.Origins[id], recheckInterval, m.options.Runtime.Go)
		}
	}
	return m.unfinished
}

// due reports whether another check may judge the newest text of a policy otherwise.
func (m *Manager) due(p *lifecycle.Policy) bool {
	v := p.Newest
	return v.Plan == nil && !v.Compiled && !v.Disabled() || m.untyped(p)
}

// untyped reports whether a text was checked without types that the cluster publishes now,
// and is in force, or does not fit them. Before they are published, another check would
// find the same.
func (m *Manager) untyped(p *lifecycle.Policy) bool {
	unfit := p.Newest.Good() && p.Report.Event == lifecycle.Failed
	return (unfit || p.RunsNewest()) && !p.Newest.Typed && m.options.Checker.Typed(p.Newest.Plan)
}

// problemsChanged reports whether what fails of the policies has changed.
func (m *Manager) problemsChanged() bool {
	now := map[string]string{}
	for _, id := range m.policies.AssignedIDs() {
		if text := m.reporter.failing(id); text != "" {
			now[id] = text
		}
	}
	same := maps.Equal(now, m.problems)
	m.problems = now
	return !same
}

// warnUnknownPolicies logs values from the command line whose policy does not exist
// (yet).
func (m *Manager) warnUnknownPolicies(c *source.Catalog) {
	for _, name := range slices.Sorted(maps.Keys(m.options.Params)) {
		if !c.Has(name) {
			m.options.Log.Warn("values are given on the command line for a policy that no ConfigMap holds", observe.LogPolicy, name)
		}
	}
}

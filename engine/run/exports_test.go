package run

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// counted is a policy that exports one metric.
func counted(name, metric string, of plan.Happening, labels ...string) *plan.Policy {
	m := plan.Metric{Name: metric, Of: of}
	for _, l := range labels {
		m.Labels = append(m.Labels, plan.Label{Name: l})
	}
	return &plan.Policy{Name: name, Mode: plan.Enforce, Metrics: []plan.Metric{m}, Rules: []*plan.Rule{{Name: "r"}}}
}

// TestMetricsOfAnEarlierTerm: the revision that ran when this process last led
// is not the one before this one, and its metrics may have had other labels.
func TestMetricsOfAnEarlierTerm(t *testing.T) {
	t.Parallel()
	p := offline()
	p.Registry = prometheus.NewRegistry()
	e := p.exports
	e.adopt(p, nil, counted("p", "m_total", plan.EffectWritten))
	e.adopt(p, nil, counted("p", "other_total", plan.EffectWritten))
	if len(e.series) != 1 || e.series["other_total"] == nil {
		t.Errorf("%v", e.series)
	}
	e.adopt(p, nil, counted("p", "other_total", plan.LeaderState))
	e.transition(true) // it sets the gauge
}

// TestMetricsWhileARevisionTakesOver: what the revision before exported is not
// counted by the labels of the next.
func TestMetricsWhileARevisionTakesOver(t *testing.T) {
	t.Parallel()
	p := offline()
	p.Registry = prometheus.NewRegistry()
	e := p.exports
	e.adopt(p, nil, counted("p", "m_total", plan.EffectWritten))
	c := &reconcile.Controller{Policy: counted("p", "m_total", plan.EffectWritten, "kind")}
	written := reconcile.Result{Outcomes: []apply.Outcome{{Effect: &eval.Effect{Verb: eval.VerbPatch}}}}
	e.report(t.Context(), c, eval.Key{Name: "n"}, written)
}

// TestMetricsOfAnother: who could not export a metric does not end it either.
func TestMetricsOfAnother(t *testing.T) {
	t.Parallel()
	p := offline()
	p.Registry = prometheus.NewRegistry()
	first, second := counted("first", "m_total", plan.EffectWritten), counted("second", "m_total", plan.EffectWritten)
	p.exports.adopt(p, nil, first)
	p.exports.adopt(p, nil, second)
	p.exports.adopt(p, second, nil)
	if s := p.exports.series["m_total"]; s == nil || s.policy != "first" {
		t.Error("the metric of the first policy is gone with the second")
	}
}

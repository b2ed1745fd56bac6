package metrics

import (
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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

// exporting returns no metrics, and where they are registered.
func exporting() (*Policies, *prometheus.Registry) {
	registry := prometheus.NewRegistry()
	return New(Options{Registry: registry, Log: slog.New(slog.DiscardHandler), Leading: func() bool { return false }, Pending: func(string) int { return 0 }}), registry
}

// TestMetricsOfAnEarlierTerm: the revision that ran when this process last led
// is not the one before this one, and its metrics may have had other labels.
func TestMetricsOfAnEarlierTerm(t *testing.T) {
	t.Parallel()
	e, _ := exporting()
	e.Replace(nil, counted("p", "m_total", plan.EffectWritten))
	e.Replace(nil, counted("p", "other_total", plan.EffectWritten))
	if len(e.series) != 1 || e.series["other_total"] == nil {
		t.Errorf("%v", e.series)
	}
	e.Replace(nil, counted("p", "other_total", plan.LeaderState))
	e.Transition(true) // it sets the gauge
}

// TestMetricsWhileARevisionTakesOver: what the revision before exported is not
// counted by the labels of the next.
func TestMetricsWhileARevisionTakesOver(t *testing.T) {
	t.Parallel()
	e, _ := exporting()
	e.Replace(nil, counted("p", "m_total", plan.EffectWritten))
	c := &reconcile.Controller{Policy: counted("p", "m_total", plan.EffectWritten, "kind")}
	written := reconcile.Result{Outcomes: []apply.Outcome{{Effect: &eval.Effect{Verb: eval.VerbPatch}}}}
	e.Report(t.Context(), c, eval.Key{Name: "n"}, written)
}

// TestMetricsOfAnother: who could not export a metric does not end it either.
func TestMetricsOfAnother(t *testing.T) {
	t.Parallel()
	e, _ := exporting()
	first, second := counted("first", "m_total", plan.EffectWritten), counted("second", "m_total", plan.EffectWritten)
	e.Replace(nil, first)
	e.Replace(nil, second)
	e.Replace(second, nil)
	if s := e.series["m_total"]; s == nil || s.policy != "first" {
		t.Error("the metric of the first policy is gone with the second")
	}
}

// TestLabelsAreData: a value that is not UTF-8 makes the library panic, and one
// that is different for every object makes series without end.
func TestLabelsAreData(t *testing.T) {
	t.Parallel()
	e, registry := exporting()
	e.Replace(nil, counted("p", "m_total", plan.EffectWritten, "title"))
	s := e.series["m_total"]
	s.count(map[string]string{"title": "\xc3" + strings.Repeat("ü", maxLabelValue)}, 1)
	for i := range maxSeries + 500 {
		s.count(map[string]string{"title": strconv.Itoa(i)}, 1)
	}
	s.count(map[string]string{"title": "1"}, 1)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatal(families, err)
	}
	values := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		value := m.GetLabel()[0].GetValue()
		if !utf8.ValidString(value) || len(value) > maxLabelValue+8 {
			t.Errorf("the label %q", value)
		}
		values[value] = m.GetCounter().GetValue()
	}
	if len(values) != maxSeries+1 || values["(too many)"] != 501 || values["1"] != 2 {
		t.Errorf("%d series, %v of too many, %v of one that was there", len(values), values["(too many)"], values["1"])
	}
}

package policies

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestConfigMapErrors: of a ConfigMap with errors that no policy has, the log and a metric
// say so, once for each change.
func TestConfigMapErrors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := newConfigMapErrors(slog.New(slog.NewTextHandler(&out, nil)))
	look := func(m *source.ConfigMap) (logged string) {
		t.Helper()
		managed := newManaged(t)
		r := &reporter{
			policies: managed.policies, runtime: &controller.Runtime{}, known: func(*source.Catalog) []string { return nil }, rollouts: func(string) string { return "" },
		}
		out.Reset()
		e.report(r.reports(source.NewCatalog([]*source.Contents{m.Read()}, nil, nil)))
		return out.String()
	}
	text := func(yaml string) *source.ConfigMap {
		return fixture.ConfigMap("errors", "", map[string]string{"p.yaml": yaml})
	}
	for _, step := range []struct {
		text, logged string // "" is nothing
		errors       float64
	}{
		{"rules: [", "p.yaml:1:1: error", 1},
		{"rules: [", "", 1},
		{"rules: {", "p.yaml:1:1: error", 1},
		{"", "no errors of its own any more", 0},
		{"", "", 0},
	} {
		logged := look(text(step.text))
		if !strings.Contains(logged, step.logged) || step.logged == "" && logged != "" {
			t.Errorf("%q: logged %q, want %q", step.text, logged, step.logged)
		}
		if got := seriesOf(t, "errors"); got != step.errors {
			t.Errorf("%q: %v errors, want %v", step.text, got, step.errors)
		}
	}
}

// seriesOf returns the value of the metric of a ConfigMap, and drops a series without one.
func seriesOf(t *testing.T, configMap string) float64 {
	t.Helper()
	var m dto.Metric
	if err := observe.ConfigMapErrors.WithLabelValues(configMap).Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetGauge().GetValue()
}

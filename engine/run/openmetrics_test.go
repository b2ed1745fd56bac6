package run

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestOpenMetrics: only a client that takes OpenMetrics gets exemplars, and each
// metric has the same name for both, also a counter of a policy without _total.
func TestOpenMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	odd := prometheus.NewCounter(prometheus.CounterOpts{Name: "restarts", Help: "One of a policy."})
	seconds := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Help: "With an exemplar.", Buckets: []float64{1}})
	total := prometheus.NewCounter(prometheus.CounterOpts{Name: "writes_total", Help: "As it should be."})
	registry.MustRegister(odd, seconds, total)
	odd.Add(3)
	total.Add(2)
	seconds.(prometheus.ExemplarObserver).ObserveWithExemplar(.5, prometheus.Labels{"reconcile_id": "x-1"})
	handler := (&process{options: Options{Registry: registry}}).serveMetrics()
	for accept, exemplar := range map[string]bool{
		"text/plain;version=0.0.4": false,
		"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5": true,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, MetricsPath, nil)
		request.Header.Set("Accept", accept)
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		text := response.Body.String()
		for _, want := range []string{"\nrestarts 3", "\nwrites_total 2", "\nseconds_count 1"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no line %q:\n%s", accept, want, text)
			}
		}
		if strings.Contains(text, `# {reconcile_id="x-1"} 0.5`) != exemplar {
			t.Errorf("%s: want an exemplar %v:\n%s", accept, exemplar, text)
		}
	}
}

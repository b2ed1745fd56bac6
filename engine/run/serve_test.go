package run

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/edict-dev/edict/engine/run/webhook"
	"github.com/edict-dev/edict/test/fixture"
)

// TestWhoKnowsOfShadows: a process that only waits for the lead does not say
// that there are none.
func TestWhoKnowsOfShadows(t *testing.T) {
	t.Parallel()
	p := &process{options: Options{Log: fixture.Log()}}
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		p.shadowz(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, ShadowPath, http.NoBody))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, text := ask(); code != http.StatusServiceUnavailable || !strings.Contains(text, "ask the one that leads") {
		t.Errorf("without the lead: %d %s", code, text)
	}
}

// TestWhoLeads: a standby is not ready, and says that it does not lead.
func TestWhoLeads(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		leads bool
		want  map[string]int
		text  string
	}{
		"a standby":                      {false, map[string]int{"/readyz": 503, "/leadz": 503, ShadowPath: 503}, "ready=false leader=false"},
		"the leader, before it is ready": {true, map[string]int{"/readyz": 503, "/leadz": 200}, "ready=false leader=true"},
	} {
		p := &process{options: Options{Log: fixture.Log(), Election: &Election{}}}
		p.leads.Store(tc.leads)
		mux := p.probes(http.NewServeMux())
		for path, want := range tc.want {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
			if w.Code != want {
				t.Errorf("%s: %s answers %d, want %d: %s", name, path, w.Code, want, w.Body)
			}
		}
		w := httptest.NewRecorder()
		p.readyz(w)
		if got := strings.TrimSpace(w.Body.String()); got != tc.text {
			t.Errorf("%s: %q, want %q", name, got, tc.text)
		}
	}
}

// TestServes: the probe says which part of the process does not work yet.
func TestServes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		process func(*process)
		want    string
	}{
		"policies of files": {func(*process) {}, "ok"},
		"the webhook starts": {func(p *process) {
			p.webhook = webhook.New(webhook.Options{})
			p.webhook.Check = ctrlwebhook.NewServer(ctrlwebhook.Options{}).StartedChecker()
		}, "the webhook: webhook server has not been started yet"},
		"it leads, and has no term": {func(p *process) { p.leads.Store(true) }, "policies have not seen their first lists yet"},
	} {
		p := &process{options: Options{Log: fixture.Log()}}
		tc.process(p)
		w := httptest.NewRecorder()
		p.servez(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/servez", http.NoBody))
		if got := strings.TrimSpace(w.Body.String()); got != tc.want || (w.Code == http.StatusOK) != (tc.want == "ok") {
			t.Errorf("%s: %d %q, want %q", name, w.Code, got, tc.want)
		}
	}
}

// TestMetricsCertificate: a folder without a certificate is refused, since the server would
// make one of its own.
func TestMetricsCertificate(t *testing.T) {
	t.Parallel()
	p := &process{options: Options{MetricsCertDir: t.TempDir(), Log: fixture.Log()}}
	if _, err := p.newManager(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the certificate for metrics: ") {
		t.Error(err)
	}
}

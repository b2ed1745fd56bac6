package run

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/test/fixture"
)

// TestWhoKnowsOfShadows: a process that only waits for the lead does not say
// that there are none.
func TestWhoKnowsOfShadows(t *testing.T) {
	t.Parallel()
	runs := false
	e := &endpoints{options: &Options{Log: fixture.Log()}, shadows: func() ([]*reconcile.ShadowReport, bool) { return nil, runs }}
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		e.shadowz(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, ShadowPath, http.NoBody))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, text := ask(); code != http.StatusServiceUnavailable || !strings.Contains(text, "ask the one that leads") {
		t.Errorf("without the lead: %d %s", code, text)
	}
	runs = true
	if code, text := ask(); code != http.StatusOK || text != "[]" {
		t.Errorf("with the lead: %d %s", code, text)
	}
}

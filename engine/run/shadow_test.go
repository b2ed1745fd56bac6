package run

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhoKnowsOfShadows: a process that only waits for the lead does not say
// that there are none.
func TestWhoKnowsOfShadows(t *testing.T) {
	t.Parallel()
	p := offline()
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		p.shadowz(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, ShadowPath, http.NoBody))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, text := ask(); code != http.StatusServiceUnavailable || !strings.Contains(text, "ask the one that leads") {
		t.Errorf("without the lead: %d %s", code, text)
	}
	p.term.Store(p.newTerm(t.Context()))
	if code, text := ask(); code != http.StatusOK || text != "[]" {
		t.Errorf("with the lead: %d %s", code, text)
	}
}

package run

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
)

// TestBounded: who comes while too many requests are being read waits as long
// as somebody waits for the answer, and is let in as soon as one is done.
func TestBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := bounded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, bounded := r.Context().Deadline(); !bounded {
				t.Error("who is let in may take as long as they like")
			}
			<-release
		}), 1)
		ask := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, WebhookPath+"?timeout=1s", nil))
			return w
		}
		go ask()
		synctest.Wait()
		if w := ask(); w.Code != http.StatusServiceUnavailable {
			t.Errorf("the answer is %d", w.Code)
		}
		done := make(chan int, 1)
		go func() { done <- ask().Code }()
		synctest.Wait()
		close(release)
		if code := <-done; code != http.StatusOK {
			t.Errorf("later the answer is %d", code)
		}
	})
}

package writer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestRequestsEnd: a request that hangs ends with words that say which; a watch
// goes on, and an answer is read to its end.
func TestRequestsEnd(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<16))
	}))
	defer server.Close()
	defer close(stop)
	get := func(path string, after time.Duration) (string, error) {
		client := &http.Client{Transport: Timeouts{http.DefaultTransport, after}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
	if _, err := get("/hangs", 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "GET /hangs: no answer from the API server within 50ms") {
		t.Errorf("got %v", err)
	}
	if body, err := get("/fine", time.Minute); err != nil || len(body) != 1<<16 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if body, err := get("/fine?watch=true", 0); err != nil || len(body) != 1<<16 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

package live

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestStretch: a stretch ends with the answer to its last patch. Other requests, and
// patches that are refused, are none of it.
func TestStretch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusConflict)
		}
	}))
	defer server.Close()
	var w writes
	client := &http.Client{Transport: counting{&w, http.DefaultTransport}}
	patches := w.begin(2)
	for _, one := range []struct {
		method, path string
		began, done  bool
	}{
		{http.MethodGet, "/", false, false},
		{http.MethodPatch, "/", true, false},
		{http.MethodPatch, "/refused", true, false},
		{http.MethodPost, "/", true, false},
		{http.MethodPatch, "/", true, true},
	} {
		request, err := http.NewRequestWithContext(t.Context(), one.method, server.URL+one.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		done := false
		select {
		case <-patches.done:
			done = true
		default:
		}
		if began := !patches.began.at.IsZero(); began != one.began || done != one.done {
			t.Errorf("after %s %s: it has begun: %t, is done: %t", one.method, one.path, began, done)
		}
	}
	if took := patches.took(); took.time <= 0 {
		t.Errorf("it took %v", took.time)
	}
}

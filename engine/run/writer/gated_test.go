package writer

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestGated: a gate that closes after a write was allowed refuses its request; reads
// and the requests of others go on.
func TestGated(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Method+r.URL.Path) }))
	defer server.Close()
	closed := errors.New("the gate is closed")
	open := true
	w := &Writer{Gate: func(context.Context) error {
		if open {
			return nil
		}
		return closed
	}}
	gated, err := w.open(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: Gated{RoundTripper: http.DefaultTransport}}
	send := func(ctx context.Context, method, path string) error {
		r, err := http.NewRequestWithContext(ctx, method, server.URL+path, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	if err := send(gated, http.MethodPatch, "/1"); err != nil {
		t.Error(err)
	}
	open = false
	if err := send(gated, http.MethodPatch, "/2"); !errors.Is(err, closed) {
		t.Errorf("the request was sent: %v", err)
	}
	for _, allowed := range []error{send(gated, http.MethodGet, "/3"), send(t.Context(), http.MethodPatch, "/4")} {
		if allowed != nil {
			t.Error(allowed)
		}
	}
	if want := "PATCH/1 GET/3 PATCH/4"; strings.Join(got, " ") != want {
		t.Errorf("the server got %v, not %s", got, want)
	}
	if _, err := w.open(t.Context(), "p"); !errors.Is(err, closed) {
		t.Errorf("a write was allowed: %v", err)
	}
}

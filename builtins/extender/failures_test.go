package extender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/expr"
)

// both are a request of each call, with what it is called in metrics.
func both() map[string]*expr.Request {
	return map[string]*expr.Request{"filterAndScore": scoring2s("a"), "narrowReservation": narrowing1m("a")}
}

// TestStatus: anything but 200 is a failure, whatever the body says.
func TestStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{201, 202, 204, 301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 502, 503} {
		body := `{"lvgs":[{"name":"a","score":5}],"error":"secret"}`
		if status == 204 {
			body = ""
		}
		client := newClient(t, Config{URL: serve(t, answers(status, body)).URL})
		for call, request := range both() {
			got, err := client.Answer(t.Context(), request)
			wantClass(t, err, ClassStatus)
			if want := fmt.Sprintf("scheduler extender: unexpected status %d", status); err.Error() != want {
				t.Errorf("%s: %v", call, err)
			}
			if failure, _ := errors.AsType[*Error](err); got != nil || failure.Status != status || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %d gives %v, %v", call, status, got, err)
			}
		}
	}
}

// TestRedirect: nobody follows one.
func TestRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	for _, status := range []int{302, 307} {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		_, err := newClient(t, Config{URL: server.URL}).Answer(t.Context(), scoring2s("a"))
		wantClass(t, err, ClassStatus)
	}
}

// TestTooLarge: the limit is exact, and there is one without being told.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	body := func(n int) string { return `{"lvgs":[]}` + strings.Repeat(" ", n-len(`{"lvgs":[]}`)) }
	for name, tc := range map[string]struct {
		limit, size int
		want        string // "" is no failure
	}{
		"at the limit":           {100, 100, ""},
		"above it":               {100, 101, "scheduler extender: the response is larger than 100 bytes"},
		"at the default limit":   {0, 2 << 20, ""},
		"above it by one":        {0, 2<<20 + 1, "scheduler extender: the response is larger than 2 MiB"},
		"far above it":           {0, 8 << 20, "scheduler extender: the response is larger than 2 MiB"},
		"above another in a MiB": {1 << 20, 2 << 20, "scheduler extender: the response is larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, Config{URL: serve(t, answers(200, body(tc.size))).URL, MaxResponseBytes: int64(tc.limit)})
			_, err := client.Answer(t.Context(), scoring2s("a"))
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || err.Error() != tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if err != nil {
				wantClass(t, err, ClassTooLarge)
			}
		})
	}
}

// TestTimeout: a server that is slow anywhere is given up on.
func TestTimeout(t *testing.T) {
	t.Parallel()
	stall := func(r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	for name, handler := range map[string]http.HandlerFunc{
		"before the header": func(_ http.ResponseWriter, r *http.Request) { stall(r) },
		"in the body": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"lvgs":[`)
			_ = http.NewResponseController(w).Flush()
			stall(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, Config{URL: serve(t, handler).URL, Timeout: 50 * time.Millisecond})
			_, err := client.Answer(t.Context(), scoring2s("a"))
			wantClass(t, err, ClassTimeout)
			if err.Error() != "scheduler extender: no answer within 50ms" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCaller: what the caller decides is told apart from the time limit.
func TestCaller(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 2)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	client := newClient(t, Config{URL: server.URL})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := client.Answer(ctx, scoring2s("a"))
	wantClass(t, err, ClassCanceled)
	if !errors.Is(err, context.Canceled) || err.Error() != "scheduler extender: the request was canceled" {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = client.Answer(ctx, scoring2s("a"))
	wantClass(t, err, ClassTimeout)
	if err.Error() != "scheduler extender: no answer before the caller's deadline" {
		t.Errorf("got %v", err)
	}
	_, err = client.Answer(ctx, scoring2s("a")) // already over
	wantClass(t, err, ClassTimeout)
}

// TestTransport: connections that cannot be made or break. The text does not
// change from one time to the next.
func TestTransport(t *testing.T) {
	t.Parallel()
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = connection.Close()
	}
	cutOff := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"lvgs":[]}`)
	}
	reset := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = connection.(*net.TCPConn).SetLinger(0)
		_ = connection.Close()
	}
	for name, url := range map[string]string{
		"nobody listens": "http://127.0.0.1:1", "hung up": serve(t, hangUp).URL, "cut off": serve(t, cutOff).URL, "reset": serve(t, reset).URL,
		"an answer that is no HTTP": serve(t, func(w http.ResponseWriter, _ *http.Request) {
			connection, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(connection, "SSH-2.0\r\n\r\n")
			_ = connection.Close()
		}).URL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, Config{URL: url})
			texts := map[string]bool{}
			for range 3 {
				_, err := client.Answer(t.Context(), scoring2s("a"))
				wantClass(t, err, ClassTransport)
				texts[err.Error()] = true
				if !strings.HasPrefix(err.Error(), "scheduler extender: request failed: ") || strings.Contains(err.Error(), "/v1/") {
					t.Errorf("got %v", err)
				}
			}
			if len(texts) != 1 {
				t.Errorf("the text changes: %v", texts)
			}
		})
	}
}

// TestNoRetry: what a server has seen is not sent again.
func TestNoRetry(t *testing.T) {
	t.Parallel()
	requests := make(chan struct{}, 10)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests <- struct{}{}
		if len(requests) == 1 { // the first one makes a connection that is used again
			answers(200, `{"lvgs":[]}`)(w, r)
			return
		}
		connection, _, _ := http.NewResponseController(w).Hijack()
		_ = connection.Close()
	})
	client := newClient(t, Config{URL: server.URL})
	if _, err := client.Answer(t.Context(), scoring2s("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Answer(t.Context(), scoring2s("a")); err == nil {
		t.Error("a broken connection is no failure")
	}
	if len(requests) != 2 {
		t.Errorf("two calls made %d requests", len(requests))
	}
}

// TestNoProxy: the environment cannot send requests elsewhere. Not parallel:
// it sets the environment.
func TestNoProxy(t *testing.T) {
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	client := newClient(t, Config{URL: "http://extender.invalid:1", Timeout: time.Second})
	if _, err := client.Answer(t.Context(), scoring2s("a")); err == nil {
		t.Error("a host that does not exist answers")
	}
	if client.transport.(*http.Transport).Proxy != nil {
		t.Error("there is a proxy")
	}
}

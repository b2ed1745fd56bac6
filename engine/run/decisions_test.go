package run

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/edict-dev/edict/engine/live"
)

// TestDecisionsAreForLoopback: a page in a browser that makes its own name resolve to
// this machine is refused.
func TestDecisionsAreForLoopback(t *testing.T) {
	t.Parallel()
	asked := 0
	h := forLoopback(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	for host, want := range map[string]int{
		"localhost:4273": http.StatusOK, "localhost": http.StatusOK, "127.0.0.1:4273": http.StatusOK, "[::1]:4273": http.StatusOK, "[::1]": http.StatusOK,
		"example.com": http.StatusForbidden, "example.com:4273": http.StatusForbidden, "localhost.example.com:4273": http.StatusForbidden,
		"127.0.0.1.example.com": http.StatusForbidden, "10.0.0.1:4273": http.StatusForbidden, "": http.StatusForbidden,
	} {
		before, w := asked, httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, live.Path, http.NoBody)
		r.Host = host
		h.ServeHTTP(w, r)
		if w.Code != want || (asked > before) != (want == http.StatusOK) {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
	}
}

// TestDecisionsAreServed, for the loopback; a process whose address is taken runs
// without, and says so.
func TestDecisionsAreServed(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	m, err := manager.New(&rest.Config{}, manager.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	address := func() string {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}()
	serve := func() (log string) {
		var out bytes.Buffer
		p := &process{options: Options{DecisionsAddress: address, Log: slog.New(slog.NewTextHandler(&out, nil))}}
		if err := p.serve(m); err != nil {
			t.Fatalf("the process does not run: %v", err)
		}
		return out.String()
	}
	if log := serve(); log != "" {
		t.Fatal(log)
	}
	if log := serve(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "decisions are not served") || !strings.Contains(log, address) {
		t.Errorf("the address is taken: %q", log)
	}
	background.Go(func() {
		if err := m.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for host, want := range map[string]int{"": http.StatusServiceUnavailable /* no term: it does not lead */, "example.com": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+live.Path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%q: %d, want %d", host, response.StatusCode, want)
		}
	}
}

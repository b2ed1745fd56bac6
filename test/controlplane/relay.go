package controlplane

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// relay passes an API server's requests on to etcd, and can hold back what watches
// answer.
type relay struct {
	port   string
	server *http.Server
	// held counts the answers that had to wait.
	held atomic.Int64

	mu sync.Mutex
	// open is closed while nothing is held back.
	open chan struct{}
}

func newRelay(ctx context.Context, etcd string) (*relay, error) {
	target, err := url.Parse(etcd)
	if err != nil {
		return nil, err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	r := &relay{port: port, open: make(chan struct{})}
	close(r.open)
	plain := new(http.Protocols) // gRPC without TLS, and etcd's /health
	plain.SetUnencryptedHTTP2(true)
	forward := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport: &http.Transport{Protocols: plain}, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	}
	r.server = &http.Server{Handler: r.handler(forward), Protocols: plain, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = r.server.Serve(listener) }() // until close
	return r, nil
}

func (r *relay) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if strings.HasSuffix(request.URL.Path, "/Watch") {
			w = &heldWriter{ResponseWriter: w, ctx: request.Context(), relay: r}
		}
		next.ServeHTTP(w, request)
	})
}

func (r *relay) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = make(chan struct{})
}

func (r *relay) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.open)
}

func (r *relay) gate() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

func (r *relay) close() error { return r.server.Close() }

// heldWriter writes nothing while the relay holds back.
type heldWriter struct {
	http.ResponseWriter
	ctx   context.Context
	relay *relay
}

// Unwrap lets the response controller reach the connection.
func (w *heldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *heldWriter) Write(b []byte) (int, error) {
	gate := w.relay.gate()
	select {
	case <-gate:
		return w.ResponseWriter.Write(b)
	default:
	}
	w.relay.held.Add(1)
	select {
	case <-gate:
		return w.ResponseWriter.Write(b)
	case <-w.ctx.Done():
		return 0, w.ctx.Err()
	}
}

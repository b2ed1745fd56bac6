package fault

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// proxy stands between one controller and the API server and makes faults.
// Requests go on with the rights of the administrator, under the proxy's name, by
// which the audit log tells controllers apart.
type proxy struct {
	Name string
	URL  string

	server *http.Server
	mu     sync.Mutex
	faults faults
	// streams are the watches under way, by what ends them.
	streams map[*stream]bool
	// writes counts the writes that were answered, hits the faults.
	writes, hits atomic.Int64
	random       *rand.Rand
}

// faults are what a proxy does to requests. The zero value does nothing.
type faults struct {
	// Down refuses all requests, as a broken network would: connections end.
	Down bool
	// Delay is how long each request but watches waits at least and at most.
	Delay [2]time.Duration
	// Status answers a share of the requests instead of the API server.
	Status int
	Share  float64
	// Expire answers watches that go on from a version with 410.
	Expire bool
	// Late holds back the events of watches of a resource.
	Late map[string]time.Duration
	// Empty answers lists of a resource with none, once.
	Empty string
	// AfterWrite is called after each write was answered, before the controller
	// gets the answer.
	AfterWrite func(n int64)
	// ReadsFrom is the API server that answers what reads, but for Leases; nil is the
	// same that writes go to.
	ReadsFrom *url.URL
	// User is whom the API server sees; "" is the administrator.
	User string
}

// stream is a watch under way.
type stream struct{ cut func() }

func newProxy(ctx context.Context, name string, config *rest.Config, seed uint64) (*proxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	p := &proxy{Name: name, streams: map[*stream]bool{}, random: rand.New(rand.NewPCG(seed, 1))}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			f := p.now()
			if f.ReadsFrom != nil && r.In.Method == http.MethodGet && !strings.Contains(r.In.URL.Path, "/leases") {
				r.SetURL(f.ReadsFrom)
			} else {
				r.SetURL(target)
			}
			r.Out.Header.Set("User-Agent", userAgent(name))
			if f.User != "" {
				r.Out.Header.Set("Impersonate-User", f.User)
			}
		},
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // broken connections are what this is about
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.URL = "http://" + l.Addr().String()
	p.server = &http.Server{Handler: p.handler(forward), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// userAgent names a proxy in the audit log.
func userAgent(name string) string { return "fault/" + name }

func (p *proxy) close() error { return p.server.Close() }

// set puts faults in place of those before; streams that are under way go on.
func (p *proxy) set(f faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = f
}

func (p *proxy) now() faults {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults
}

// cut ends all watches, in the middle of whatever they send.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.streams {
		s.cut()
		p.hits.Add(1)
	}
}

func (p *proxy) chance() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.Float64()
}

func (p *proxy) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := p.now()
		watches := r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1"
		if p.broken(w, r, f, watches) {
			return
		}
		p.wait(r.Context(), f, watches)
		if watches {
			p.watch(w, r, f, next)
			return
		}
		if f.Empty != "" && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+f.Empty) {
			p.empty(w, f)
			return
		}
		next.ServeHTTP(w, r)
		if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/leases") {
			if n := p.writes.Add(1); f.AfterWrite != nil {
				f.AfterWrite(n)
			}
		}
	})
}

// broken answers a request with a fault, and reports whether it did.
func (p *proxy) broken(w http.ResponseWriter, r *http.Request, f faults, watches bool) bool {
	switch {
	case f.Down:
		p.hits.Add(1)
		panic(http.ErrAbortHandler)
	case f.Share > 0 && p.chance() < f.Share:
		p.refuse(w, f.Status)
		return true
	case f.Expire && watches && r.URL.Query().Get("resourceVersion") != "":
		p.refuse(w, http.StatusGone)
		return true
	default:
		return false
	}
}

func (p *proxy) wait(ctx context.Context, f faults, watches bool) {
	if f.Delay[1] == 0 || watches {
		return
	}
	p.hits.Add(1)
	span := f.Delay[1] - f.Delay[0]
	select {
	case <-time.After(f.Delay[0] + time.Duration(p.chance()*float64(span))):
	case <-ctx.Done():
	}
}

// refuse answers as the API server would.
func (p *proxy) refuse(w http.ResponseWriter, code int) {
	p.hits.Add(1)
	reason := map[int]string{http.StatusGone: "Expired", http.StatusTooManyRequests: "TooManyRequests", http.StatusInternalServerError: "InternalError"}[code]
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"a fault"}`, reason, code)
}

// empty answers a list with nothing in it.
func (p *proxy) empty(w http.ResponseWriter, f faults) {
	p.hits.Add(1)
	f.Empty = ""
	p.set(f)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
}

// watch passes a watch on, until it is cut.
func (p *proxy) watch(w http.ResponseWriter, r *http.Request, f faults, next http.Handler) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var aborted atomic.Bool
	s := &stream{cut: func() { aborted.Store(true); cancel() }}
	p.mu.Lock()
	p.streams[s] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.streams, s)
		p.mu.Unlock()
		if aborted.Load() {
			panic(http.ErrAbortHandler)
		}
	}()
	resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if late := f.Late[resource]; late > 0 {
		w = &lateWriter{ResponseWriter: w, by: late, ctx: ctx}
		p.hits.Add(1)
	}
	next.ServeHTTP(w, r.WithContext(ctx))
}

// lateWriter sends everything later.
type lateWriter struct {
	http.ResponseWriter
	by  time.Duration
	ctx context.Context
}

// Unwrap lets the response controller reach the connection.
func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lateWriter) Write(b []byte) (int, error) {
	select {
	case <-time.After(w.by):
		return w.ResponseWriter.Write(b)
	case <-w.ctx.Done():
		return 0, w.ctx.Err()
	}
}

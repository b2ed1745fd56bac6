package webhook

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxRequests is how many requests are read at once, maxOfHost how many of them
	// may come from one address: every client that reaches the port can send them,
	// and must not block the API server.
	maxRequests, maxOfHost = 32, 16
	// maxBody is the size of a request, in bytes: two ConfigMaps of 1 MiB each,
	// written as JSON.
	maxBody = 5 << 20
	// bodyTimeout is how long a request may take to arrive.
	bodyTimeout = 2 * time.Second
)

// limit serves a limited number of requests at once, each for as long as its client
// waits. Their bodies have to arrive soon.
func limit(next http.Handler, total, ofHost int) http.Handler {
	l := &limiter{all: make(chan struct{}, total), ofHost: ofHost, hosts: map[string]*hostLimit{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := reviewContext(r)
		leave, ok := l.enter(ctx, r.RemoteAddr)
		if !ok {
			http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
			return
		}
		defer leave()
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // recorders of tests have none
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// limiter limits requests, of one address and of all.
type limiter struct {
	all    chan struct{}
	ofHost int
	mu     sync.Mutex
	hosts  map[string]*hostLimit
}

// hostLimit limits the requests of one address; users are those served or waiting.
type hostLimit struct {
	slots chan struct{}
	users int
}

// enter waits until a request may be served, and returns a function for its end.
func (l *limiter) enter(ctx context.Context, address string) (leave func(), ok bool) {
	host, _, _ := net.SplitHostPort(address)
	own := l.of(host)
	select {
	case own.slots <- struct{}{}:
	case <-ctx.Done():
		l.forget(host, own)
		return nil, false
	}
	select {
	case l.all <- struct{}{}:
		return func() { <-l.all; <-own.slots; l.forget(host, own) }, true
	case <-ctx.Done():
		<-own.slots
		l.forget(host, own)
		return nil, false
	}
}

func (l *limiter) of(host string) *hostLimit {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.hosts[host]
	if own == nil {
		own = &hostLimit{slots: make(chan struct{}, l.ofHost)}
		l.hosts[host] = own
	}
	own.users++
	return own
}

func (l *limiter) forget(host string, own *hostLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(l.hosts, host)
	}
}

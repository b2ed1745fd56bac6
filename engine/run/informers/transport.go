package informers

import (
	"net/http"
	"sync"

	"golang.org/x/time/rate"
)

// WatchTransport limits the rate at which each watch is opened. The second time, and
// later ones, are reconnects.
type WatchTransport struct {
	http.RoundTripper
	// Reconnected is called for each reconnect.
	Reconnected func()
	// Opened is called with the ID of a watch that the server serves.
	Opened func(id string)

	mu sync.Mutex
	// seen are the watches by their watchID, with how often each may be opened.
	seen map[string]*rate.Limiter
}

const (
	// watchesPerSecond is how often a watch is opened again in the long run, and
	// watchesAtOnce how often in a row. A server that answers each watch with 410
	// Gone is asked again at once otherwise: client-go lists and watches without a
	// pause then.
	watchesPerSecond, watchesAtOnce = 1, 10
)

// RoundTrip implements http.RoundTripper.
func (w *WatchTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	watch := r.URL.Query().Get("watch")
	if watch != "true" && watch != "1" {
		return w.RoundTripper.RoundTrip(r)
	}
	id := watchID(r.URL)
	pace, known := w.pace(id)
	if known {
		w.Reconnected()
	}
	if err := pace.Wait(r.Context()); err != nil {
		return nil, err
	}
	response, err := w.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK {
		w.Opened(id)
	}
	return response, err
}

// pace returns how often a watch may be opened, and whether it was before.
func (w *WatchTransport) pace(id string) (pace *rate.Limiter, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[string]*rate.Limiter{}
	}
	pace, known = w.seen[id]
	if !known {
		pace = rate.NewLimiter(watchesPerSecond, watchesAtOnce)
		w.seen[id] = pace
	}
	return pace, known
}

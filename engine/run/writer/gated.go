package writer

import (
	"context"
	"net/http"
)

// gateKey is where the context of a write has its gate.
type gateKey struct{}

// Gated asks the gate of a write as its request is sent: between the decision to write
// and the request, objects may be read and texts encoded, and the process may have been
// stopped for a while.
type Gated struct {
	http.RoundTripper
	// Gate is that of writes whose context has none; nil lets them pass.
	Gate func(context.Context) error
}

// RoundTrip implements http.RoundTripper.
func (g Gated) RoundTrip(r *http.Request) (*http.Response, error) {
	gate, ok := r.Context().Value(gateKey{}).(func(context.Context) error)
	if !ok {
		gate = g.Gate
	}
	if gate == nil || r.Method == http.MethodGet {
		return g.RoundTripper.RoundTrip(r)
	}
	if err := gate(r.Context()); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as a RoundTripper has to
		}
		return nil, err
	}
	return g.RoundTripper.RoundTrip(r)
}

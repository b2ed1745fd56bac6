package writer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// RequestTimeout is how long the API server has for an answer; a watch has none.
// The server itself ends requests after a minute, but a connection that hangs
// ends by nothing, and would hold up a worker for ever.
const RequestTimeout = 30 * time.Second

// Timeouts ends requests that take too long.
type Timeouts struct {
	http.RoundTripper
	After time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t Timeouts) RoundTrip(r *http.Request) (*http.Response, error) {
	if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
		return t.RoundTripper.RoundTrip(r)
	}
	late := fmt.Errorf("%s %s: no answer from the API server within %v", r.Method, r.URL.Path, t.After)
	ctx, cancel := context.WithTimeoutCause(r.Context(), t.After, late)
	response, err := t.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		if cause := context.Cause(ctx); cause == late { //nolint:errorlint // this very one, not one like it
			err = late
		}
		cancel()
		return nil, err
	}
	response.Body = endingBody{response.Body, cancel}
	return response, nil
}

// endingBody frees the timer once the answer has been read.
type endingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b endingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

package extender

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// maxHeaderBytes bounds the header of an answer.
	maxHeaderBytes = 64 << 10
	// maxDrain is how much of a body is read to be able to use its connection
	// again. A connection with more on it is closed.
	maxDrain = 64 << 10
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 90 * time.Second
)

func transportOf(c Config, settings *tls.Config) http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	return newTransport(c, settings)
}

// newTransport returns a transport without a proxy from the environment. It is used
// without an http.Client, which would follow redirects: a request goes to the
// configured host or nowhere.
func newTransport(c Config, settings *tls.Config) *http.Transport {
	dialer := net.Dialer{Timeout: c.Timeout}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        settings,
		TLSHandshakeTimeout:    c.Timeout,
		MaxIdleConnsPerHost:    c.MaxConcurrent,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
	}
}

// post is what all requests have in common. A transport does not change their header.
var post = &http.Request{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

// exchange posts a body and returns that of the answer to read.
func (c *Client) exchange(ctx context.Context, to *url.URL, body *payload, read func(answer) error) error {
	request := post.WithContext(ctx)
	request.URL, request.Host = to, to.Host
	request.Body, request.ContentLength, request.GetBody = body.open(), body.size, func() (io.ReadCloser, error) { return body.open(), nil }
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return mismatch(err)
	}
	defer drain(response.Body)
	if response.StatusCode != http.StatusOK {
		return badStatus(response.StatusCode)
	}
	return read(answer{response.Body, response.ContentLength})
}

// mismatch names the error that a server without TLS causes, as an http.Client does.
func mismatch(err error) error {
	if about, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(about.RecordHeader[:]) == "HTTP/" {
		return http.ErrSchemeMismatch
	}
	return err
}

// explain makes an *Error of whatever went wrong in an exchange.
func (c *Client) explain(caller, limited context.Context, err error) error {
	if err == nil || is[*Error](err) {
		return err
	}
	return broken(caller, limited, c.timeout, err)
}

// acquire waits for the request's turn.
func (c *Client) acquire(caller, ctx context.Context) error {
	if ctx.Err() == nil && c.enter(ctx) {
		c.metrics.inFlight.Inc()
		return nil
	}
	if caller.Err() != nil {
		return gaveUp(caller)
	}
	text := fmt.Sprintf("no answer within %v: %d other requests are under way", c.timeout, cap(c.slots))
	return &Error{Class: ClassTimeout, text: text, cause: ctx.Err()}
}

// enter takes a slot, unless the context ends first.
func (c *Client) enter(ctx context.Context) bool {
	select {
	case c.slots <- struct{}{}: // mostly one is free, and the context needs no channel
		return true
	default:
	}
	select {
	case c.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *Client) release() {
	c.metrics.inFlight.Dec()
	<-c.slots
}

// answer is the body of an answer, and how long it says to be; -1 if it does not.
type answer struct {
	io.Reader
	size int64
}

// readAll reads a body of at most limit bytes.
func readAll(into *bytes.Buffer, body answer, limit int64) error {
	if body.size > 0 && body.size <= limit {
		into.Grow(int(body.size) + bytes.MinRead)
	}
	if _, err := into.ReadFrom(io.LimitReader(body, limit+1)); err != nil {
		return err
	}
	if int64(into.Len()) > limit {
		return fail(ClassTooLarge, "the response is larger than "+bytesText(limit))
	}
	return nil
}

// bytesText writes a size for a person: 2 MiB, or 1000 bytes.
func bytesText(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// drain reads what is left of a body, so that its connection can be used
// again, and closes it.
func drain(body io.ReadCloser) {
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxDrain)) // the answer is known already
	_ = body.Close()
}

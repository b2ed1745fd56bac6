package extender

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says where the scheduler extender is and how to speak to it.
type Config struct {
	// URL is its address without the path of a call: http or https, with an
	// optional path, without a query, a fragment or a user name.
	URL string
	// CAFile is a PEM bundle of the authorities that its certificate may come
	// from; those of the system when empty. It is read by New only.
	CAFile string
	// CertFile and KeyFile are the client's certificate and key, PEM; none when
	// both are empty. They are read again for every new connection, so that a
	// rotated certificate needs no restart.
	CertFile, KeyFile string
	// ServerName is the name that its certificate must have; the host of the
	// URL when empty.
	ServerName string
	// InsecureSkipVerify accepts any certificate. Only for experiments.
	InsecureSkipVerify bool
	// Transport sends the requests; nil is one that connects to the URL with the
	// settings above.
	Transport http.RoundTripper
	// Timeout bounds a request as a whole: waiting for its turn, connecting,
	// and reading the answer. 10 seconds unless positive.
	Timeout time.Duration
	// MaxConcurrent is how many requests may be under way at a time; others
	// wait. 16 unless positive.
	MaxConcurrent int
	// MaxResponseBytes is the size of the largest answer that is read. 2 MiB
	// unless positive.
	MaxResponseBytes int64
	// Breaker says when to stop asking.
	Breaker Breaker
	// OnStateChange is told of every change of the circuit's state: closed,
	// half-open or open. It must return soon and not call the client. May be
	// nil.
	OnStateChange func(from, to string)
}

// Breaker says when requests fail at once because the extender is considered
// unavailable, and for how long.
type Breaker struct {
	// Failures is how many requests in a row must fail to open the circuit. 5
	// when 0.
	Failures uint32
	// OpenFor is how long it stays open before one request probes whether the
	// extender answers again. 5 seconds unless positive.
	OpenFor time.Duration
}

// The defaults of a Config.
const (
	defaultTimeout          = 10 * time.Second
	defaultMaxConcurrent    = 16
	defaultMaxResponseBytes = 2 << 20
	defaultFailures         = 5
	defaultOpenFor          = 5 * time.Second
)

func (c Config) withDefaults() Config {
	c.Timeout = positiveOr(c.Timeout, defaultTimeout)
	c.MaxConcurrent = positiveOr(c.MaxConcurrent, defaultMaxConcurrent)
	c.MaxResponseBytes = positiveOr(c.MaxResponseBytes, defaultMaxResponseBytes)
	c.Breaker.Failures = positiveOr(c.Breaker.Failures, defaultFailures)
	c.Breaker.OpenFor = positiveOr(c.Breaker.OpenFor, defaultOpenFor)
	return c
}

func positiveOr[T ~int | ~int64 | ~uint32](n, otherwise T) T {
	if n > 0 {
		return n
	}
	return otherwise
}

// baseURL checks the configured URL and returns it without slashes at its end.
func baseURL(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("the scheduler extender's URL is not configured")
	}
	base := strings.TrimRight(raw, "/")
	parsed, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("invalid scheduler extender URL %s: %s", withoutUser(raw), whyUnparsable(raw, err))
	}
	if why := flaw(raw, parsed); why != "" {
		return nil, fmt.Errorf("invalid scheduler extender URL %s: %s", withoutUser(raw), why)
	}
	return parsed, nil
}

// below returns the address of a path below a base.
func below(base *url.URL, path string) *url.URL {
	out := *base
	out.Path += path
	if out.RawPath != "" {
		out.RawPath += path
	}
	return &out
}

// flaw says what is wrong with a URL; "" when nothing is.
func flaw(raw string, u *url.URL) string {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "its scheme must be http or https"
	case u.Hostname() == "":
		return "it has no host"
	case u.User != nil:
		return "it must not have a user name or a password"
	case strings.Contains(raw, "?"):
		return "it must not have a query"
	case strings.Contains(raw, "#"):
		return "it must not have a fragment"
	}
	return ""
}

// withoutUser quotes a URL without what may be secret in it: a user name, a
// password, a query or a fragment. It also works for what is no URL.
func withoutUser(raw string) string {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		scheme, rest = "", raw
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	if found {
		rest = scheme + "://" + rest
	}
	return fmt.Sprintf("%q", rest)
}

// whyUnparsable leaves the URL out of an error of url.Parse. With a user name
// in it, any part that the error speaks of may be one of the password.
func whyUnparsable(raw string, err error) string {
	about, ok := errors.AsType[*url.Error](err)
	if !ok || strings.Contains(raw, "@") {
		return "it is not a URL"
	}
	return about.Err.Error()
}

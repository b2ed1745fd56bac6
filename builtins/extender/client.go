package extender

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/expr"
)

// Client asks a scheduler extender over HTTP. It is safe for concurrent use,
// and a prometheus.Collector of its own metrics.
//
// A call asks once. The one thing that is sent again is a request of which
// nothing has been written, because the connection that was to be used again
// turned out to be closed.
type Client struct {
	transport http.RoundTripper
	// scoring and narrowing are where requests go.
	scoring, narrowing endpoint
	timeout            time.Duration
	largest            int64
	slots              chan struct{}
	breaker            *breaker
	metrics            *metrics
	catalogs           catalogs
}

var _ expr.Answerer = (*Client)(nil)

// endpoint is a call of the protocol: its address, and what is counted of it.
type endpoint struct {
	url *url.URL
	callMetrics
}

// The values of the label call.
const (
	callScore  = "filterAndScore"
	callNarrow = "narrowReservation"
)

// New makes a client. It fails when the URL is not usable or a file cannot be
// read; it does not connect.
func New(config Config) (*Client, error) {
	base, err := baseURL(config.URL)
	if err != nil {
		return nil, err
	}
	config = config.withDefaults()
	settings, err := newTLS(config)
	if err != nil {
		return nil, err
	}
	counted := newMetrics()
	return &Client{
		transport: transportOf(config, settings), timeout: config.Timeout, largest: config.MaxResponseBytes,
		scoring:   endpoint{below(base, "/v1/lvg/filter-and-score"), counted.of(callScore)},
		narrowing: endpoint{below(base, "/v1/lvg/narrow-reservation"), counted.of(callNarrow)},
		slots:     make(chan struct{}, config.MaxConcurrent), breaker: newBreaker(config.Breaker, config.OnStateChange), metrics: counted,
	}, nil
}

// State returns the state of the circuit: closed, half-open or open.
func (c *Client) State() string { return c.breaker.state() }

// Close closes the connections that no request uses. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// Answer implements expr.Answerer. Its errors are of type *Error.
func (c *Client) Answer(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	switch request.Query {
	case FilterAndScore:
		return c.score(ctx, request)
	case NarrowReservation:
		return c.narrow(ctx, request)
	}
	return nil, unknown(request.Query)
}

func unknown(query string) error {
	return fail(ClassRequest, fmt.Sprintf("it does not answer %q", query))
}

func (c *Client) score(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	reserve, err := newReservation(request.With)
	if err != nil {
		return nil, err
	}
	asked, err := c.catalogs.question(request.Candidates)
	if err != nil {
		return nil, err
	}
	var verdicts []expr.Verdict
	err = c.call(ctx, c.scoring, asked.body(reserve), func(body answer) error {
		buffer := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(buffer)
		buffer.Reset()
		if err := readAll(buffer, body, c.largest); err != nil {
			return err
		}
		verdicts, err = asked.verdicts(buffer.Bytes())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &expr.Response{Verdicts: verdicts}, nil
}

// buffers are for answers: what is read of one is copied.
var buffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

func (c *Client) narrow(ctx context.Context, request *expr.Request) (*expr.Response, error) {
	asked, err := newNarrowRequest(request)
	if err != nil {
		return nil, err
	}
	err = c.call(ctx, c.narrowing, newPayload(asked.body()), func(answer) error { return nil })
	if err != nil {
		return nil, err
	}
	return &expr.Response{}, nil
}

// call sends a request and counts what becomes of it. read is given the body
// of an answer of status 200.
func (c *Client) call(ctx context.Context, to endpoint, body *payload, read func(answer) error) error {
	err := c.inTurn(ctx, func(limited context.Context) error {
		begin := time.Now()
		defer func() { to.took.Observe(time.Since(begin).Seconds()) }()
		return c.explain(ctx, limited, c.exchange(limited, to.url, body, read))
	})
	to.count(err)
	return err
}

// inTurn runs an exchange when fewer than the most allowed are under way and
// the circuit lets it pass. Waiting counts towards the time limit. The circuit
// is asked last: it may open while the request waits, and an open one frees the
// slot of the request that opened it.
func (c *Client) inTurn(caller context.Context, exchange func(limited context.Context) error) error {
	ctx, cancel := context.WithTimeout(caller, c.timeout)
	defer cancel()
	if err := c.acquire(caller, ctx); err != nil {
		return err
	}
	defer c.release()
	return c.breaker.do(func() error { return exchange(ctx) })
}

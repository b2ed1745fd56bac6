package extender

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// candidates makes candidates of "<group>" and "<group>/<thin pool>".
func candidates(places ...string) []*value.Map {
	out := make([]*value.Map, len(places))
	for i, place := range places {
		group, thin, isThin := strings.Cut(place, "/")
		fields := map[string]value.Value{"name": value.OfString(group)}
		if isThin {
			fields["thinPoolName"] = value.OfString(thin)
		}
		out[i] = value.FromMap(fields)
	}
	return out
}

func scoring2s(places ...string) *expr.Request {
	return &expr.Request{Query: FilterAndScore, Candidates: expr.CandidatesOf(candidates(places...)...), With: value.FromMap(map[string]value.Value{
		"reservationID": value.OfString("pvc-1"), "ttl": value.OfDuration(2 * time.Second), "size": value.OfInt(1 << 30),
	})}
}

func narrowing1m(places ...string) *expr.Request {
	return &expr.Request{Query: NarrowReservation, Candidates: expr.CandidatesOf(candidates(places...)...), With: value.FromMap(map[string]value.Value{
		"reservationID": value.OfString("pvc-1"), "ttl": value.OfDuration(time.Minute),
	})}
}

// newClient makes a client that is closed at the end of the test.
func newClient(t *testing.T, config Config) *Client {
	t.Helper()
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serve starts a server that ends with the test.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// answers is a handler that reads the request and always answers the same.
func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// wantClass checks what kind of failure an error is.
func wantClass(t *testing.T, err error, want Class) {
	t.Helper()
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Class != want {
		t.Fatalf("got %v, want a failure of class %s", err, want)
	}
	if !strings.HasPrefix(err.Error(), "scheduler extender: ") {
		t.Errorf("the error does not say who failed: %v", err)
	}
}

// roundTrip is a transport without a network, for tests in virtual time.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// overTransport makes a client whose requests a function answers.
func overTransport(t *testing.T, config Config, f roundTrip) *Client {
	t.Helper()
	config.URL, config.Transport = "http://extender.test", f
	return newClient(t, config)
}

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}
}

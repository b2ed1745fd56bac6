package extender

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &extender{}
		client := overTransport(t, Config{MaxResponseBytes: 100, Breaker: Breaker{Failures: 6}}, server.roundTrip)
		ask := func(answer func(*http.Request) (*http.Response, error)) {
			server.set(answer)
			_, _ = client.Answer(t.Context(), scoring2s("a"))
		}
		ask(func(*http.Request) (*http.Response, error) {
			advance(time.Second)
			return response(200, `{"lvgs":[]}`), nil
		})
		ask(hanging)
		ask(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") })
		ask(func(*http.Request) (*http.Response, error) { return nil, http.ErrSchemeMismatch })
		ask(status(503))
		ask(func(*http.Request) (*http.Response, error) { return response(200, "garbage"), nil })
		ask(func(*http.Request) (*http.Response, error) { return response(200, string(make([]byte, 101))), nil })
		ask(status(200)) // the circuit is open
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		advance(time.Minute)
		_, _ = client.Answer(ctx, narrowing1m("a"))
		_, _ = client.Answer(t.Context(), scoring2s()) // cannot be asked
		const want = `
# HELP edict_extender_circuit_state 1 for the present state of the circuit to the scheduler extender.
# TYPE edict_extender_circuit_state gauge
edict_extender_circuit_state{state="closed"} 0
edict_extender_circuit_state{state="half-open"} 1
edict_extender_circuit_state{state="open"} 0
# HELP edict_extender_in_flight Requests to the scheduler extender under way.
# TYPE edict_extender_in_flight gauge
edict_extender_in_flight 0
# HELP edict_extender_requests_total Requests to the scheduler extender by what became of them.
# TYPE edict_extender_requests_total counter
edict_extender_requests_total{call="filterAndScore",result="canceled"} 0
edict_extender_requests_total{call="filterAndScore",result="circuit_open"} 1
edict_extender_requests_total{call="filterAndScore",result="decode"} 1
edict_extender_requests_total{call="filterAndScore",result="ok"} 1
edict_extender_requests_total{call="filterAndScore",result="status"} 1
edict_extender_requests_total{call="filterAndScore",result="timeout"} 1
edict_extender_requests_total{call="filterAndScore",result="tls"} 1
edict_extender_requests_total{call="filterAndScore",result="too_large"} 1
edict_extender_requests_total{call="filterAndScore",result="transport"} 1
edict_extender_requests_total{call="narrowReservation",result="canceled"} 1
edict_extender_requests_total{call="narrowReservation",result="circuit_open"} 0
edict_extender_requests_total{call="narrowReservation",result="decode"} 0
edict_extender_requests_total{call="narrowReservation",result="ok"} 0
edict_extender_requests_total{call="narrowReservation",result="status"} 0
edict_extender_requests_total{call="narrowReservation",result="timeout"} 0
edict_extender_requests_total{call="narrowReservation",result="tls"} 0
edict_extender_requests_total{call="narrowReservation",result="too_large"} 0
edict_extender_requests_total{call="narrowReservation",result="transport"} 0
`
		if err := testutil.CollectAndCompare(client, strings.NewReader(want),
			"edict_extender_circuit_state", "edict_extender_in_flight", "edict_extender_requests_total"); err != nil {
			t.Error(err)
		}
		if problems, err := testutil.CollectAndLint(client); err != nil || len(problems) > 0 {
			t.Errorf("the metrics are not as they should be: %v, %v", problems, err)
		}
	})
}

// TestSeconds: only requests that were sent have a duration, without the time
// that they waited.
func TestSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &extender{answer: func(*http.Request) (*http.Response, error) {
			advance(2 * time.Second)
			return response(503, ``), nil
		}}
		client := overTransport(t, Config{MaxConcurrent: 1, Breaker: Breaker{Failures: 2}}, server.roundTrip)
		done := make(chan struct{})
		for range 2 {
			go func() {
				_, _ = client.Answer(t.Context(), scoring2s("a"))
				done <- struct{}{}
			}()
		}
		synctest.Wait()
		if n := testutil.ToFloat64(client.metrics.inFlight); n != 1 {
			t.Errorf("%v requests are in flight", n)
		}
		<-done
		<-done
		_, _ = client.Answer(t.Context(), scoring2s("a")) // not sent
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(client)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if family.GetName() == "edict_extender_request_seconds" {
				if h := family.Metric[0].Histogram; h.GetSampleCount() != 2 || h.GetSampleSum() != 4 {
					t.Errorf("%d requests took %v seconds", h.GetSampleCount(), h.GetSampleSum())
				}
			}
		}
	})
}

package extender

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestBound: no more requests than allowed are under way, and the others get
// their turn.
func TestBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		client := overTransport(t, Config{MaxConcurrent: 3}, func(*http.Request) (*http.Response, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			advance(time.Second)
			now.Add(-1)
			return response(200, `{"lvgs":[]}`), nil
		})
		begin := time.Now()
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if _, err := client.Answer(t.Context(), scoring2s("a")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(begin); most.Load() != 3 || took != 4*time.Second {
			t.Errorf("%d at a time, in %v", most.Load(), took)
		}
	})
}

// TestWaiting: waiting for a turn ends with the caller and with the time
// limit, and says nothing about the extender.
func TestWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := overTransport(t, Config{MaxConcurrent: 1, Breaker: Breaker{Failures: 1}}, func(*http.Request) (*http.Response, error) {
			advance(time.Minute)
			return response(200, `{"lvgs":[]}`), nil
		})
		first := make(chan error)
		go func() {
			_, err := client.Answer(t.Context(), scoring2s("a"))
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		_, err := client.Answer(ctx, scoring2s("a"))
		wantClass(t, err, ClassCanceled)
		_, err = client.Answer(t.Context(), scoring2s("a"))
		wantClass(t, err, ClassTimeout)
		if want := "scheduler extender: no answer within 10s: 1 other requests are under way"; err.Error() != want {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took != 11*time.Second || client.State() != "closed" {
			t.Errorf("took %v; the circuit is %s", took, client.State())
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// TestWaitingCounts: the time limit is one for waiting and for the answer.
func TestWaitingCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := overTransport(t, Config{MaxConcurrent: 1}, func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(6 * time.Second):
				return response(200, `{"lvgs":[]}`), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		var failures atomic.Int64
		var all sync.WaitGroup
		begin := time.Now()
		for range 2 {
			all.Go(func() {
				if _, err := client.Answer(t.Context(), scoring2s("a")); err != nil {
					wantClass(t, err, ClassTimeout)
					failures.Add(1)
				}
			})
		}
		all.Wait()
		if took := time.Since(begin); failures.Load() != 1 || took != 10*time.Second {
			t.Errorf("%d failures in %v", failures.Load(), took)
		}
	})
}

// TestWaitingInVain: a request whose turn comes when the circuit has opened is
// not sent.
func TestWaitingInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &extender{answer: func(*http.Request) (*http.Response, error) {
			advance(time.Second)
			return response(500, ``), nil
		}}
		client := overTransport(t, Config{MaxConcurrent: 1, Breaker: Breaker{Failures: 1}}, server.roundTrip)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { _, _ = client.Answer(t.Context(), scoring2s("a")) })
		}
		all.Wait()
		if server.seen != 1 {
			t.Errorf("%d requests were sent", server.seen)
		}
	})
}

// TestConnectionsAreReused: as many connections as requests at a time, also
// when answers are failures or are not read.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"answers": answers(200, `{"lvgs":[]}`), "spaces behind them": answers(200, `{"lvgs":[]}      `),
		"refusals": answers(400, `{"error":"no"}`), "garbage": answers(200, "garbage"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections atomic.Int64
			server := httptest.NewUnstartedServer(handler)
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			server.Start()
			t.Cleanup(server.Close)
			client := newClient(t, Config{URL: server.URL, MaxConcurrent: 4, Breaker: Breaker{Failures: 1000}})
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 25 {
						_, _ = client.Answer(t.Context(), scoring2s("a"))
						_, _ = client.Answer(t.Context(), narrowing1m("a"))
					}
				})
			}
			all.Wait()
			// A connection may be dialed for a request that then takes another
			// one that has become free.
			if n := connections.Load(); n > 8 {
				t.Errorf("200 requests took %d connections", n)
			}
		})
	}
}

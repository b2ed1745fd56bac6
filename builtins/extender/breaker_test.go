package extender

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// extender is a server without a network: it answers what it is told to.
type extender struct {
	mu     sync.Mutex
	answer func(*http.Request) (*http.Response, error)
	seen   int
}

func (e *extender) set(answer func(*http.Request) (*http.Response, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

func (e *extender) roundTrip(r *http.Request) (*http.Response, error) {
	e.mu.Lock()
	e.seen++
	answer := e.answer
	e.mu.Unlock()
	return answer(r)
}

func status(code int) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return response(code, `{"lvgs":[]}`), nil }
}

func hanging(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestCircuit goes through all states: five failures in a row open it, a probe
// after five seconds opens it again or closes it.
func TestCircuit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &extender{answer: status(503)}
		var changes []string
		client := overTransport(t, Config{OnStateChange: func(from, to string) { changes = append(changes, from+" to "+to) }}, server.roundTrip)
		ask := func(want Class, state string, seen int) {
			t.Helper()
			_, err := client.Answer(t.Context(), scoring2s("a"))
			if want == "" && err != nil {
				t.Fatal(err)
			} else if want != "" {
				wantClass(t, err, want)
			}
			if client.State() != state || server.seen != seen {
				t.Fatalf("the circuit is %s after %d requests, not %s after %d", client.State(), server.seen, state, seen)
			}
		}
		for i := range 4 {
			ask(ClassStatus, "closed", i+1)
		}
		if _, err := client.Answer(t.Context(), narrowing1m("a")); err == nil || client.State() != "open" {
			t.Fatalf("the calls do not share a circuit: %s", client.State())
		}
		opened := time.Now().UTC().Format(time.RFC3339)
		ask(ClassCircuitOpen, "open", 5)
		advance(5 * time.Second) // a moment too early
		ask(ClassCircuitOpen, "open", 5)
		advance(1)
		if client.State() != "half-open" {
			t.Fatal(client.State())
		}
		ask(ClassStatus, "open", 6)
		_, err := client.Answer(t.Context(), scoring2s("a"))
		if err == nil || err.Error() != "scheduler extender: circuit open since "+opened+", after: unexpected status 503" {
			t.Errorf("got %v, want since %s", err, opened)
		}
		server.set(status(200))
		advance(5*time.Second + 1)
		ask("", "closed", 7)
		ask("", "closed", 8)
		want := []string{"closed to open", "open to half-open", "half-open to open", "open to half-open", "half-open to closed"}
		if diff := cmp.Diff(want, changes); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// advance lets virtual time pass.
func advance(d time.Duration) { <-time.After(d) }

// TestOneProbe: while one request probes, others fail at once.
func TestOneProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &extender{answer: status(500)}
		client := overTransport(t, Config{Breaker: Breaker{Failures: 1, OpenFor: time.Minute}}, server.roundTrip)
		_, _ = client.Answer(t.Context(), scoring2s("a"))
		advance(time.Minute + 1)
		release := make(chan struct{})
		server.set(func(*http.Request) (*http.Response, error) {
			<-release
			return response(200, `{"lvgs":[]}`), nil
		})
		probe := make(chan error)
		go func() {
			_, err := client.Answer(t.Context(), scoring2s("a"))
			probe <- err
		}()
		synctest.Wait()
		_, err := client.Answer(t.Context(), scoring2s("a"))
		wantClass(t, err, ClassCircuitOpen)
		close(release)
		if err := <-probe; err != nil || client.State() != "closed" || server.seen != 2 {
			t.Errorf("got %v; %s after %d requests", err, client.State(), server.seen)
		}
	})
}

// TestWhatCounts: which failures open the circuit.
func TestWhatCounts(t *testing.T) {
	t.Parallel()
	body := func(text string) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) { return response(200, text), nil }
	}
	for name, tc := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		want   string
	}{
		"500":            {status(500), "open"},
		"503":            {status(503), "open"},
		"garbage":        {body("it works"), "open"},
		"too large":      {body(string(make([]byte, 1001))), "open"},
		"no connection":  {func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }, "open"},
		"no answer":      {hanging, "open"},
		"400":            {status(400), "closed"},
		"404":            {status(404), "closed"},
		"429":            {status(429), "closed"},
		"302":            {status(302), "closed"},
		"204":            {status(204), "closed"},
		"an answer":      {status(200), "closed"},
		"nothing scored": {body(`{"lvgs":[{"name":"a","score":0}]}`), "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := overTransport(t, Config{MaxResponseBytes: 1000}, tc.answer)
				for range 5 {
					_, _ = client.Answer(t.Context(), scoring2s("a"))
				}
				if client.State() != tc.want {
					t.Errorf("the circuit is %s", client.State())
				}
			})
		})
	}
}

// TestRefusalsDoNotAddUp: a 4xx says that the extender works.
func TestRefusalsDoNotAddUp(t *testing.T) {
	t.Parallel()
	codes := []int{503, 503, 503, 503, 400, 503, 503, 503, 503}
	client := overTransport(t, Config{}, func(*http.Request) (*http.Response, error) {
		code := codes[0]
		codes = codes[1:]
		return response(code, ``), nil
	})
	for len(codes) > 0 {
		_, _ = client.Answer(t.Context(), scoring2s("a"))
	}
	if client.State() != "closed" {
		t.Errorf("the circuit is %s", client.State())
	}
}

// TestGivingUpDoesNotCount: neither towards opening the circuit, nor as the
// probe that decides whether it closes.
func TestGivingUpDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &extender{answer: hanging}
		client := overTransport(t, Config{}, server.roundTrip)
		giveUp := func() {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := client.Answer(ctx, scoring2s("a"))
			wantClass(t, err, ClassCanceled)
		}
		for range 10 {
			giveUp()
		}
		if client.State() != "closed" {
			t.Fatalf("the circuit is %s", client.State())
		}
		server.set(status(500))
		for range 5 {
			_, _ = client.Answer(t.Context(), scoring2s("a"))
		}
		advance(5*time.Second + 1)
		server.set(hanging)
		giveUp()
		if client.State() != "half-open" {
			t.Fatalf("the circuit is %s", client.State())
		}
		server.set(status(200))
		if _, err := client.Answer(t.Context(), scoring2s("a")); err != nil || client.State() != "closed" {
			t.Errorf("got %v; the circuit is %s", err, client.State())
		}
	})
}

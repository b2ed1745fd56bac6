package extender_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edict-dev/edict/test/extender"
)

const (
	scoreA  = `{"reservationID":"x","reservationTTL":"1m","size":1,"lvgs":[{"name":"a"},{"name":"a","thinPoolName":"t"}]}`
	narrowA = `{"reservationID":"x","reservationTTL":"1m","lvg":{"name":"a"}}`
)

// TestFaults: what each call answers, and that a fault reserves nothing.
func TestFaults(t *testing.T) {
	t.Parallel()
	const scores, good, bad = `{"lvgs":[{"name":"a","score":7}]}`, `{}`, `{"error":"out of order"}`
	for mode, tc := range map[extender.Mode]struct {
		scoreStatus  int
		score        string
		narrowStatus int
		narrow       string
	}{
		extender.None:       {200, scores, 200, good},
		extender.Fail:       {503, bad, 503, bad},
		extender.Garbage:    {200, "<html>it works</html>", 200, "<html>it works</html>"},
		extender.NarrowFail: {200, scores, 503, bad},
		extender.Lie: {
			200, `{"lvgs":[{"name":"a","score":0},{"name":"a-nobody-asked","score":10},{"name":"a","thinPoolName":"-nobody-asked","score":10},` +
				`{"name":"a","thinPoolName":"t","score":-1},{"name":"a-nobody-asked","thinPoolName":"t","score":10},{"name":"a","thinPoolName":"t-nobody-asked","score":10}]}`,
			200, good,
		},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]int64{"a": 100})
			if err := w.SetFault(extender.Fault{Mode: mode}); err != nil {
				t.Fatal(err)
			}
			status, text := w.ask("POST", "/v1/lvg/filter-and-score", scoreA)
			if status != tc.scoreStatus || text != tc.score {
				t.Errorf("scores: %d %s", status, text)
			}
			if works := tc.score == scores; works != (w.reserved() != "") {
				t.Errorf("reserved is %q", w.reserved())
			}
			if status, text := w.ask("POST", "/v1/lvg/narrow-reservation", narrowA); status != tc.narrowStatus || text != tc.narrow {
				t.Errorf("a confirmation: %d %s", status, text)
			}
		})
	}
}

func TestHuge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": 100})
	_ = w.SetFault(extender.Fault{Mode: extender.Huge})
	if status, text := w.ask("POST", "/v1/lvg/filter-and-score", scoreA); status != 200 || len(text) <= 2<<20 || w.reserved() != "" {
		t.Errorf("%d with %d bytes", status, len(text))
	}
}

// TestFlip: each answer prefers another pool.
func TestFlip(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": 100, "b": 100})
	w.ask("PUT", "/control/fault", `{"mode":"flip"}`)
	var got []string
	for range 3 {
		got = append(got, w.score("x", "1m", 1, "a", "b"))
	}
	want(t, "the answers", marshal(t, got), `["a=1 b=10","a=10 b=1","a=1 b=10"]`)
	want(t, "confirmations", marshal(t, w.State().Requests[extender.NarrowReservation]), "0")
}

// TestTimes: a fault ends by itself, and counts only the requests that it
// concerns.
func TestTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": 100})
	codes := func(path, body string, n int) (out []int) {
		for range n {
			status, _ := w.ask("POST", path, body)
			out = append(out, status)
		}
		return out
	}
	w.ask("PUT", "/control/fault", `{"mode":"fail","times":2}`)
	w.ask("POST", "/v1/lvg/filter-and-score", "no JSON") // does not count
	want(t, "two fail", marshal(t, codes("/v1/lvg/filter-and-score", scoreA, 3)), "[503,503,200]")
	w.ask("PUT", "/control/fault", `{"mode":"narrow-fail","times":1}`)
	want(t, "scores work", marshal(t, codes("/v1/lvg/filter-and-score", scoreA, 2)), "[200,200]")
	want(t, "one confirmation fails", marshal(t, codes("/v1/lvg/narrow-reservation", narrowA, 2)), "[503,200]")
	w.ask("PUT", "/control/fault", `{"mode":"fail"}`)
	want(t, "until changed", marshal(t, codes("/v1/lvg/narrow-reservation", narrowA, 3)), "[503,503,503]")
	w.ask("PUT", "/control/fault", `{"mode":"none"}`)
	want(t, "changed", marshal(t, codes("/v1/lvg/narrow-reservation", narrowA, 1)), "[200]")
	if state := w.State(); state.Requests[extender.FilterAndScore] != 6 || state.Fault != (extender.Fault{Mode: extender.None}) {
		t.Errorf("got %v", state)
	}
}

// TestStallWithDelay: the answer comes late, and is the usual one.
func TestStallWithDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]int64{"a": 100})
		w.ask("PUT", "/control/fault", `{"mode":"stall","delay":"2s"}`)
		before := time.Now()
		want(t, "the answer", w.score("x", "1m", 1, "a"), "a=7")
		if took := time.Since(before); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestStall: without a delay a request is held until the client goes away, and
// has no effect.
func TestStall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]int64{"a": 100})
	w.ask("PUT", "/control/fault", `{"mode":"stall"}`)
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer func() {
			err, _ := recover().(error)
			ended <- err
			panic(http.ErrAbortHandler)
		}()
		w.ServeHTTP(rw, r)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/lvg/filter-and-score", strings.NewReader(scoreA))
	if err != nil {
		t.Fatal(err)
	}
	if response, err := server.Client().Do(request); err == nil {
		_ = response.Body.Close()
		t.Error("there is an answer")
	}
	if got := <-ended; !errors.Is(got, http.ErrAbortHandler) || w.reserved() != "" {
		t.Errorf("it ended with %v; reserved is %q", got, w.reserved())
	}
}

package informers

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

type gone struct{ asked int }

func (g *gone) RoundTrip(*http.Request) (*http.Response, error) {
	g.asked++
	return &http.Response{StatusCode: http.StatusGone, Body: http.NoBody}, nil
}

// TestWatchesArePaced: a server that answers every watch with 410 is not asked
// thousands of times a second.
func TestWatchesArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &gone{}
		w := &WatchTransport{RoundTripper: server, Reconnected: func() {}, Opened: func(string) { t.Error("it was not opened") }}
		for began := time.Now(); time.Since(began) < time.Minute; {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/api/v1/nodes?watch=true", nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := w.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if most := 60*watchesPerSecond + watchesAtOnce + 1; server.asked > most {
			t.Errorf("%d watches in a minute, at most %d", server.asked, most)
		}
	})
}

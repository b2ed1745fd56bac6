package extender

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Mode is a way in which the server fails.
type Mode string

// The modes.
const (
	// None: the server works.
	None Mode = "none"
	// Fail: it answers 503.
	Fail Mode = "fail"
	// Stall: it holds a request for the fault's delay and then works, or until
	// the client goes away when there is no delay.
	Stall Mode = "stall"
	// Garbage: it answers 200 with a text that is not JSON.
	Garbage Mode = "garbage"
	// Lie: it answers with scores above 0 for pools that nobody asked about,
	// and with others for those that somebody did. Confirmations work.
	Lie Mode = "lie"
	// Huge: it answers 200 with more than 2 MiB.
	Huge Mode = "huge"
	// NarrowFail: it answers 503 to confirmations only.
	NarrowFail Mode = "narrow-fail"
	// Flip: it prefers another pool at each request.
	Flip Mode = "flip"
)

var modes = []Mode{None, Fail, Stall, Garbage, Lie, Huge, NarrowFail, Flip}

// Fault is how the server fails from now on.
type Fault struct {
	Mode Mode
	// Times is how many requests it concerns; 0 means until another fault is
	// set. NarrowFail, Lie and Flip count only the requests that they concern.
	Times int
	// Delay is how long Stall holds a request; 0 means until the client goes.
	Delay time.Duration
	// nth is the number of the request that it concerns.
	nth int
}

// faultDocument is a Fault as JSON.
type faultDocument struct {
	Mode  Mode   `json:"mode"`
	Times int    `json:"times,omitempty"`
	Delay string `json:"delay,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler; the delay is a text like "2s".
func (f *Fault) UnmarshalJSON(text []byte) (err error) {
	var document faultDocument
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	*f = Fault{Mode: document.Mode, Times: document.Times}
	if document.Delay != "" {
		f.Delay, err = time.ParseDuration(document.Delay)
	}
	return err
}

// MarshalJSON implements json.Marshaler.
func (f Fault) MarshalJSON() ([]byte, error) {
	document := faultDocument{Mode: f.Mode, Times: f.Times}
	if f.Delay != 0 {
		document.Delay = f.Delay.String()
	}
	return json.Marshal(document)
}

func (f Fault) check() error {
	switch {
	case !slices.Contains(modes, f.Mode):
		return fmt.Errorf("unknown mode %q", f.Mode)
	case f.Times < 0 || f.Delay < 0:
		return errors.New("times and delay must not be negative")
	}
	return nil
}

// concerns reports whether the fault applies to an endpoint.
func (f Fault) concerns(endpoint string) bool {
	switch f.Mode {
	case NarrowFail:
		return endpoint == NarrowReservation
	case Lie, Flip:
		return endpoint == FilterAndScore
	}
	return f.Mode != None
}

// hugeBytes is the size of a huge answer: above the 2 MiB that clients read.
const hugeBytes = 3 << 20

// apply fails in the fault's way. It is false when the request is to be
// answered as usual after all.
func (f Fault) apply(w http.ResponseWriter, r *http.Request, pools []Pool) bool {
	switch f.Mode {
	case Fail, NarrowFail:
		reply(w, http.StatusServiceUnavailable, map[string]string{"error": "out of order"})
	case Garbage:
		_, _ = io.WriteString(w, "<html>it works</html>")
	case Huge:
		reply(w, http.StatusOK, map[string]any{"lvgs": lies(pools), "padding": strings.Repeat("x", hugeBytes)})
	case Lie:
		reply(w, http.StatusOK, map[string]any{"lvgs": lies(pools)})
	case Flip:
		reply(w, http.StatusOK, map[string]any{"lvgs": flipped(pools, f.nth)})
	case Stall:
		hold(r, f.Delay)
		return false
	default:
		return false
	}
	return true
}

// lies returns scores above 0 for pools that are not among those asked about,
// and 0 and less for those that are.
func lies(asked []Pool) []Scored {
	out := []Scored{}
	for i, p := range asked {
		out = append(out,
			Scored{Pool: p, Score: -int64(i % 2)},
			Scored{Pool: Pool{Name: p.Name + "-nobody-asked", ThinPool: p.ThinPool}, Score: maxScore},
			Scored{Pool: Pool{Name: p.Name, ThinPool: p.ThinPool + "-nobody-asked"}, Score: maxScore})
	}
	return out
}

// flipped returns all pools the lowest score, but for one: the next one each time.
func flipped(asked []Pool, nth int) []Scored {
	out := []Scored{}
	for i, p := range asked {
		one := Scored{Pool: p, Score: minScore}
		if i == nth%len(asked) {
			one.Score = maxScore
		}
		out = append(out, one)
	}
	return out
}

// hold waits for a delay, or until the client goes away; 0 is no delay but
// forever. When the client is gone, or the server stops, the connection breaks
// without an answer.
func hold(r *http.Request, delay time.Duration) {
	var over <-chan time.Time
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

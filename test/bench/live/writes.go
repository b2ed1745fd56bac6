package live

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// writes counts the patches that were answered, and measures from when the first one is
// sent to the answer to the last.
type writes struct{ now atomic.Pointer[stretch] }

// stretch is a number of patches.
type stretch struct {
	left       atomic.Int64
	first      sync.Once
	began, end point
	done       chan struct{}
}

// point is a time, and what had been used by then.
type point struct {
	at   time.Time
	used usage
}

func here() point { return point{time.Now(), used()} }

// begin expects so many patches.
func (w *writes) begin(n int64) *stretch {
	s := &stretch{done: make(chan struct{})}
	s.left.Store(n)
	w.now.Store(s)
	return s
}

// counting is a client's transport.
type counting struct {
	writes *writes
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	s := c.writes.now.Load()
	if s == nil || r.Method != http.MethodPatch {
		return c.next.RoundTrip(r)
	}
	s.first.Do(func() { s.began = here() })
	response, err := c.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && s.left.Add(-1) == 0 {
		s.end = here()
		close(s.done)
	}
	return response, err
}

// took returns how long a stretch took that is done, and what it used.
func (s *stretch) took() cost {
	return cost{s.end.at.Sub(s.began.at), s.end.used.minus(s.began.used)}
}

// cost is what something takes: time, and CPU time.
type cost struct {
	time time.Duration
	cpu  usage
}

func (c cost) plus(d cost) cost { return cost{c.time + d.time, c.cpu.plus(d.cpu)} }

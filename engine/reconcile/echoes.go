package reconcile

import (
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/value"
)

// echoes are those of all keys of a controller. They are safe for concurrent use.
type echoes struct {
	mu    sync.Mutex
	of    map[eval.Key]*echo
	bytes int
	// swept is when those were last dropped that are too old.
	swept time.Time
}

func newEchoes() *echoes { return &echoes{of: map[eval.Key]*echo{}} }

// put keeps an echo, if there is room for it: a key without one asks again.
func (q *echoes) put(key eval.Key, e *echo, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(key)
	if now.Sub(q.swept) > patience {
		q.swept = now
		for other, old := range q.of {
			if old.late(now) {
				q.remove(other)
			}
		}
	}
	if q.bytes+e.bytes <= eval.MaxAnswers {
		q.of[key] = e
		q.bytes += e.bytes
	}
}

// take returns the echo of a key that is decided about for that alone, and keeps none; nil
// is that calls are made as ever.
func (q *echoes) take(key eval.Key, woken []record.Wake, now time.Time) *echo {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.of[key]
	q.remove(key)
	if e == nil || !e.explains(woken, now) {
		return nil
	}
	return e
}

// lookLater notes that a key is looked at again at a time though nothing may have
// happened.
func (q *echoes) lookLater(key eval.Key, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.of[key]; e != nil {
		e.look = earliest(e.look, at)
	}
}

func (q *echoes) remove(key eval.Key) {
	if e := q.of[key]; e != nil {
		q.bytes -= e.bytes
		delete(q.of, key)
	}
}

// drop drops the echoes of keys.
func (q *echoes) drop(keys ...eval.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range keys {
		q.remove(key)
	}
}

// dropAll drops the echoes of the keys that are given.
func (q *echoes) dropAll(given func(eval.Key) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key := range q.of {
		if given(key) {
			q.remove(key)
		}
	}
}

// total returns how many bytes all of them have.
func (q *echoes) total() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// weigh counts what the calls and states keep in memory.
func (e *echo) weigh() {
	for _, call := range e.calls {
		e.bytes += value.Built(call.Request.With) + 8*len(call.Response.Verdicts) + call.Request.Candidates.Bytes()
	}
	for _, s := range e.wrote {
		e.bytes += value.ScalarBytes + len(s.id.Namespace()) + len(s.id.Name()) + len(s.version)
	}
}

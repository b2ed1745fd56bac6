package reconcile

import (
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// echoes are those of all keys of a controller.
type echoes struct {
	of    map[eval.Key]*echo
	bytes int
	// swept is when those were last dropped that are too old.
	swept time.Time
}

func newEchoes() echoes { return echoes{of: map[eval.Key]*echo{}} }

// put keeps an echo, if there is room for it: a key without one asks again.
func (q *echoes) put(key eval.Key, e *echo, now time.Time) {
	q.drop(key)
	if now.Sub(q.swept) > patience {
		q.swept = now
		for other, old := range q.of {
			if old.late(now) {
				q.drop(other)
			}
		}
	}
	if q.bytes+e.bytes <= eval.MaxAnswers {
		q.of[key] = e
		q.bytes += e.bytes
	}
}

func (q *echoes) drop(key eval.Key) {
	if e := q.of[key]; e != nil {
		q.bytes -= e.bytes
		delete(q.of, key)
	}
}

// dropAll drops the echoes of some keys.
func (q *echoes) dropAll(given func(eval.Key) bool) {
	for key := range q.of {
		if given(key) {
			q.drop(key)
		}
	}
}

// weigh counts what the calls and states keep in memory.
func (e *echo) weigh() {
	for _, call := range e.calls {
		e.bytes += value.Built(call.Request.With) + 8*len(call.Response.Verdicts) + call.Request.Candidates.Bytes()
	}
	for _, s := range e.wrote {
		e.bytes += value.ScalarBytes + len(s.id.Namespace) + len(s.id.Name) + len(s.version)
	}
}

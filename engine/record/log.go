package record

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// Log keeps the newest records. It is safe for concurrent use; nil keeps nothing.
type Log struct {
	// Prefix begins the IDs, so that those of two processes differ.
	Prefix string
	// Size is how many records are kept. Each holds on to the state of the read
	// model on which it was decided.
	Size int
	// Seen is called with every record; nil is not.
	Seen func(*Record)

	mu      sync.Mutex
	records []*Record
	next    int
	// count is how many IDs were given.
	count atomic.Uint64
}

// Add keeps a record, and gives it an ID unless it has one.
func (l *Log) Add(r *Record) {
	if l == nil {
		return
	}
	l.keep(r)
	if l.Seen != nil {
		l.Seen(r)
	}
}

func (l *Log) keep(r *Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.id.IsZero() {
		r.id = l.NewID()
	}
	switch {
	case l.Size == 0:
	case len(l.records) < l.Size:
		l.records = append(l.records, r)
	default:
		l.records[l.next] = r
		l.next = (l.next + 1) % l.Size
	}
}

// Records returns what is kept, the newest first.
func (l *Log) Records() []*Record {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Concat(l.records[l.next:], l.records[:l.next])
	slices.Reverse(out)
	return out
}

// Writes returns the writes of an object, the newest first, and the time of the oldest record,
// zero if there is none.
func (l *Log) Writes(object ObjectDocument) (out []WriteDocument, since time.Time) {
	for _, r := range l.Records() {
		since = r.At.UTC()
		out = append(out, r.writes(object)...)
	}
	return out, since
}

// Last returns the newest record of a key of a policy; nil when none is kept.
func (l *Log) Last(policy string, key eval.Key) *Record {
	return l.last(policy, key, func(*Record) bool { return true })
}

// LastWrite returns the newest record of a key of a policy with something to write;
// nil when none is kept. What it wrote has often led to an evaluation after it that
// found nothing more to do.
func (l *Log) LastWrite(policy string, key eval.Key) *Record {
	return l.last(policy, key, func(r *Record) bool { return len(r.Decision.Effects) > 0 })
}

func (l *Log) last(policy string, key eval.Key, wanted func(*Record) bool) *Record {
	for _, r := range l.Records() {
		if r.Inputs.Policy.ID() == policy && r.Inputs.Key == key && wanted(r) {
			return r
		}
	}
	return nil
}

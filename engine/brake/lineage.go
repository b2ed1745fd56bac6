package brake

import (
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// Cause is what a key was woken by, as far as that was policies' own writes.
type Cause struct {
	// Depth counts the writes that led to each other and in the end to this one,
	// with nothing from outside between them; 0 is a change from outside.
	Depth int
	// Since is when the first of them was made; Rule of Policy made the last one.
	Since        time.Time
	Policy, Rule string
	// Known is false when no change has woken the key: its time had come, or it
	// is tried again.
	Known bool
	// at is when the write was made.
	at time.Time
}

// Merge returns the cause of a key that was woken twice: what comes from outside
// counts, and otherwise the shorter chain.
func (c Cause) Merge(other Cause) Cause {
	if !c.Known || other.Known && other.Depth < c.Depth {
		return other
	}
	return c
}

// lineage knows which changes of objects are the writes of policies. It is safe
// for concurrent use.
type lineage struct {
	mu sync.Mutex
	// under are the writes that are under way: the watch may tell of one before
	// it is answered.
	under map[world.ID]origin
	// versions are the resourceVersions that writes led to, objects those that
	// were written: a deletion has no version that is known.
	versions recent[string]
	objects  recent[world.ID]
}

type origin struct {
	Cause
	n int
}

func newLineage() *lineage {
	return &lineage{under: map[world.ID]origin{}}
}

// deletionDelay is how long after a write of a policy the object may vanish by it.
const deletionDelay = 10 * time.Second

// recent keeps what was added last.
type recent[K comparable] struct{ now, before map[K]Cause }

// maxRecent is how much is kept at least, and twice that at most.
const maxRecent = 4096

func (r *recent[K]) add(key K, c Cause) {
	if r.now == nil || len(r.now) >= maxRecent {
		r.now, r.before = r.before, r.now
		if clear(r.now); r.now == nil {
			r.now = map[K]Cause{}
		}
	}
	r.now[key] = c
}

func (r *recent[K]) find(key K) (Cause, bool) {
	c, ok := r.now[key]
	if !ok {
		c, ok = r.before[key]
	}
	return c, ok
}

// begin notes writes that are about to be sent.
func (l *lineage) begin(effects []*eval.Effect, c Cause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range effects {
		if e.Verb != eval.VerbEvent {
			l.under[e.Target] = origin{Cause: c, n: l.under[e.Target].n + 1}
		}
	}
}

// end notes what writes led to.
func (l *lineage) end(done []Done, c Cause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range done {
		if d.Effect.Verb == eval.VerbEvent {
			continue
		}
		id := d.Effect.Target
		if one := l.under[id]; one.n > 1 {
			one.n--
			l.under[id] = one
		} else {
			delete(l.under, id)
		}
		if d.Written {
			l.objects.add(id, c)
		}
		if d.Version != "" {
			l.versions.add(d.Version, c)
		}
	}
}

// causeOf returns what a change of an object is: one of a policy, or one from
// outside. version is "" for a deletion.
func (l *lineage) causeOf(id world.ID, version string, now time.Time) Cause {
	l.mu.Lock()
	defer l.mu.Unlock()
	outside := Cause{Known: true}
	if version == "" {
		if c, ok := l.objects.find(id); ok && now.Sub(c.at) < deletionDelay {
			return c
		}
	} else if c, ok := l.versions.find(version); ok {
		return c
	}
	if one, ok := l.under[id]; ok {
		return one.Cause
	}
	return outside
}

package reconcile

import (
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// intent is what a debounce key waits for.
type intent struct {
	// key is whom to decide about when it is due.
	key     eval.Key
	pending bool
	rule    int
	due     time.Time
	// last is when the last attempt that succeeded began; attempts counts those
	// that failed since.
	last     time.Time
	attempts int
	// window is that of the rule, when it was last looked at.
	window time.Duration
	// object is the primary as it last was under this debounce key.
	object *world.Object
	// left says that the primary is decided under another debounce key by now.
	left bool
	// weight is how many bytes it was last counted with.
	weight int
}

// The retries of an intent that failed, which are its own.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// intents is the queue of what is debounced. What reads or moves many intents takes the
// lock; what changes one is called with it.
type intents struct {
	mu     sync.Mutex
	byName map[string]*intent
	// ofKey are the debounce keys of each key.
	ofKey map[eval.Key]map[string]bool
	// swept is when those that say nothing any more were last dropped, spared when
	// those that do not wait last let go of their objects.
	swept, spared time.Time
	// bytes is the weight of all of them.
	bytes int
}

func newIntents() *intents {
	return &intents{byName: map[string]*intent{}, ofKey: map[eval.Key]map[string]bool{}}
}

// of returns the intent of a debounce key, which is now that of a key.
func (q *intents) of(name string, key eval.Key) *intent {
	i, ok := q.byName[name]
	if !ok {
		i = &intent{}
		q.byName[name] = i
	} else if i.key != key {
		q.unlink(name, i.key)
	}
	i.key = key
	if q.ofKey[key] == nil {
		q.ofKey[key] = map[string]bool{}
	}
	q.ofKey[key][name] = true
	return i
}

func (q *intents) unlink(name string, key eval.Key) {
	delete(q.ofKey[key], name)
	if len(q.ofKey[key]) == 0 {
		delete(q.ofKey, key)
	}
}

// sweepEvery is how often intents are looked through for those that say nothing
// any more.
const sweepEvery = time.Minute

// sweep drops the intents that nothing waits for and whose window is over: they
// say no more than none would. With them goes the object that they were for.
func (q *intents) sweep(now time.Time) {
	if now.Sub(q.swept) < sweepEvery {
		return
	}
	q.swept = now
	for name, i := range q.byName {
		if !i.pending && !i.last.Add(i.window).After(now) {
			q.drop(name, i)
		}
	}
}

// dropOf forgets the intents of a key.
func (q *intents) dropOf(key eval.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range q.ofKey[key] {
		q.drop(name, q.byName[name])
	}
}

// dropAll forgets the intents of some keys.
func (q *intents) dropAll(given func(eval.Key) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, i := range q.byName {
		if given(i.key) {
			q.drop(name, i)
		}
	}
}

// copy takes over all intents from another revision; rule returns the number of a rule
// that had another one there, -1 is that it is gone. It returns how many runs are lost
// because of that. Who calls copy or copyOf holds the locks of both revisions, so that no
// other does so the other way round.
func (q *intents) copy(old *intents, rule func(int) int) (lost int) {
	old.mu.Lock()
	defer old.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, i := range old.byName {
		lost += q.take(name, i, rule)
	}
	return lost
}

// copyOf is copy for a key.
func (q *intents) copyOf(old *intents, key eval.Key, rule func(int) int) (lost int) {
	old.mu.Lock()
	defer old.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range old.ofKey[key] {
		lost += q.take(name, old.byName[name], rule)
	}
	return lost
}

// take takes an intent over, unless another key has its debounce key, which goes on
// waiting. It returns how many runs are lost: one, if it waits and its rule is gone.
func (q *intents) take(name string, i *intent, rule func(int) int) (lost int) {
	if other := q.byName[name]; other != nil && other.pending && other.key != i.key {
		if i.last.After(other.last) {
			other.last = i.last
		}
		return 0
	}
	now := rule(i.rule)
	switch {
	case now >= 0:
		taken := q.of(name, i.key)
		*taken = *i
		taken.rule, taken.weight = now, 0
		q.weigh(name, taken)
	case i.pending:
		return 1
	}
	return 0
}

package reconcile

import (
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// The methods of this file take the lock of the intents.

// known is what an evaluation may know of a debounce key.
func (q *intents) known(debounce string) eval.Intent {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, ok := q.byName[debounce]
	if !ok {
		return eval.Intent{}
	}
	return eval.Intent{Pending: i.pending, Rule: i.rule, Due: i.due, Last: i.last}
}

// leftover is an intent that no decision about the primary as it is now would
// run: the object it was for stands in.
type leftover struct {
	debounce string
	object   *world.Object
}

// leftover returns what to decide about instead of the primary, if anything: what
// waits for a primary that is gone, or what is due under a debounce key that
// the primary has left. there says that the primary is there; decides says that the key is
// decided about without what waits, too, so that this stands in only when it is due.
func (q *intents) leftover(key eval.Key, there, decides bool, now time.Time, flush bool) *leftover {
	q.mu.Lock()
	defer q.mu.Unlock()
	name, first := "", (*intent)(nil)
	for n := range q.ofKey[key] {
		i := q.byName[n]
		if i.pending && (first == nil || i.due.Before(first.due) || i.due.Equal(first.due) && n < name) {
			name, first = n, i
		}
	}
	if first == nil || first.object == nil {
		return nil
	}
	if runs := (first.left || !there) && (flush || !first.due.After(now)); decides && !runs {
		return nil
	}
	return &leftover{debounce: name, object: first.object}
}

// next returns when the first intent of a key is due; zero for none.
func (q *intents) next(key eval.Key) (first time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range q.ofKey[key] {
		i := q.byName[name]
		if i.pending && (first.IsZero() || i.due.Before(first)) {
			first = i.due
		}
	}
	return first
}

// count returns how many runs wait.
func (q *intents) count() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range q.byName {
		if i.pending {
			n++
		}
	}
	return n
}

// object returns the primary of a key as it was last put off; nil is that it was not.
func (q *intents) object(key eval.Key) *world.Object {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range q.ofKey[key] {
		if i := q.byName[name]; i.object != nil {
			return i.object
		}
	}
	return nil
}

// total returns how many bytes all of them take.
func (q *intents) total() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// waiting returns the key of each run that is pending, in order.
func (q *intents) waiting() (keys []eval.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range q.byName {
		if i.pending {
			keys = append(keys, i.key)
		}
	}
	slices.SortFunc(keys, func(a, b eval.Key) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

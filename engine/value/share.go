package value

import (
	"slices"
)

// Share returns a value equal to next that uses the parts of old that are the
// same. What an update of an object did not touch so keeps its identity, and
// whatever was computed from it stays valid. next must be freshly frozen and
// not yet handed out: its unshared parts are kept, not copied.
func Share(old, next Value) Value {
	if old == nil || next == nil || old == next {
		return next
	}
	switch n := next.(type) {
	case *Map:
		if o, ok := old.(*Map); ok {
			return shareMap(o, n)
		}
	case *List:
		if o, ok := old.(*List); ok {
			return shareList(o, n)
		}
	default:
		if Alike(old, next) {
			return old
		}
	}
	return next
}

func shareMap(old, next *Map) Value {
	same := len(old.vals) == len(next.vals)
	for i, k := range next.keys() {
		was := old.Lookup(k)
		if was != nil {
			next.vals[i] = Share(was, next.vals[i])
		}
		same = same && was != nil && next.vals[i] == was
	}
	if same {
		return old
	}
	return next
}

func shareList(old, next *List) Value {
	same := len(old.items) == len(next.items)
	for i := range next.items {
		if i < len(old.items) {
			next.items[i] = Share(old.items[i], next.items[i])
			same = same && next.items[i] == old.items[i]
		}
	}
	if same {
		return old
	}
	return next
}

// Covers reports whether a mask keeps everything that another keeps.
func Covers(a, b *Mask) bool {
	switch {
	case b == nil || a == b:
		return true
	case a == nil:
		return false
	case a.All:
		return true
	case b.All:
		return false
	}
	for name, inner := range b.Fields {
		if !Covers(a.field(name), inner) {
			return false
		}
	}
	return Covers(a.Each, b.Each)
}

// samples is how many items Shares looks at.
const samples = 16

// Shares counts, among a few items of two lists, those that are the same at
// the same place or beside it: whether one list came of the other.
func Shares(a, b *List) (same int) {
	n := min(a.Len(), b.Len())
	for i := range min(n, samples) {
		at := i * n / min(n, samples)
		if _, object := b.items[at].(*Map); object && slices.Contains(a.items[max(0, at-1):min(at+2, a.Len())], b.items[at]) {
			same++
		}
	}
	return same
}

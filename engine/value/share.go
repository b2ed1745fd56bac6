package value

import (
	"slices"
)

// Share returns a value equal to next that uses the parts of old that are the
// same. What an update of an object did not touch so keeps its identity, and
// whatever was computed from it stays valid. Neither value is changed: others may
// read them at the same time.
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
	vals, same := shareAll(next.vals, len(old.vals), func(i int) Value { return old.Lookup(next.shape.keys[i]) })
	switch {
	case same:
		return old
	case vals != nil:
		return &Map{shape: next.shape, vals: vals, sizes: next.sizes}
	}
	return next
}

func shareList(old, next *List) Value {
	items, same := shareAll(next.items, len(old.items), func(i int) Value {
		if i < len(old.items) {
			return old.items[i]
		}
		return nil
	})
	switch {
	case same:
		return old
	case items != nil:
		return &List{items: items, sizes: next.sizes}
	}
	return next
}

// shareAll returns the parts of a value, replaced by equal parts of an old one; nil if none
// is replaced. same reports whether the old value has all of them and no more.
func shareAll(next []Value, olds int, was func(i int) Value) (out []Value, same bool) {
	same = len(next) == olds
	for i, n := range next {
		old := was(i)
		shared := Share(old, n)
		same = same && old != nil && shared == old
		if shared == n {
			continue
		}
		if out == nil {
			out = slices.Clone(next)
		}
		out[i] = shared
	}
	return out, same
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

package value

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types/ref"
)

// Value is an immutable value: a CEL scalar, a Map, a List or an optional.
type Value = ref.Val

// Map is an immutable JSON object. Its zero value is the empty object.
type Map struct {
	shape *shape
	vals  []Value
	sizes sizes
}

// Empty is the object without fields.
var Empty = &Map{shape: noKeys}

// NewMap makes an object of sorted, distinct keys and their values. Both
// slices belong to the object afterwards.
func NewMap(keys []string, vals []Value) *Map {
	if len(keys) == 0 {
		return Empty
	}
	return &Map{shape: ownShape(keys), vals: vals, sizes: sizesOfParts(keys, vals)}
}

// FromMap makes an object of a Go map.
func FromMap(m map[string]Value) *Map {
	if len(m) == 0 {
		return Empty
	}
	var few [maxShared]string
	keys := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(keys)
	out := newMap(shapeOf(keys), len(keys))
	for i, k := range keys {
		out.vals[i] = m[k]
	}
	return out.sized()
}

// Len returns the number of fields.
func (m *Map) Len() int { return len(m.vals) }

// At returns the i-th field in the order of the names.
func (m *Map) At(i int) (string, Value) { return m.shape.keys[i], m.vals[i] }

// Lookup returns a field, or nil when the object has none of this name.
func (m *Map) Lookup(key string) Value {
	if i := m.index(key); i >= 0 {
		return m.vals[i]
	}
	return nil
}

func (m *Map) index(key string) int {
	if m == nil || m.shape == nil {
		return -1
	}
	keys := m.shape.keys
	if len(keys) <= 8 {
		for i := range keys {
			if keys[i] == key {
				return i
			}
		}
		return -1
	}
	if len(keys) >= manyKeys {
		return m.shape.search(key)
	}
	return among(keys, key)
}

// among searches sorted names.
func among(keys []string, key string) int {
	if i, ok := slices.BinarySearch(keys, key); ok {
		return i
	}
	return -1
}

// With returns an object that differs in one field; a nil value removes it.
func (m *Map) With(key string, v Value) *Map {
	at, found := slices.BinarySearch(m.keys(), key)
	switch {
	case v == nil && !found:
		return m
	case v == nil:
		return NewMap(slices.Delete(slices.Clone(m.shape.keys), at, at+1), slices.Delete(slices.Clone(m.vals), at, at+1))
	case found:
		out := newMap(m.shape, len(m.vals))
		copy(out.vals, m.vals)
		out.vals[at], out.sizes = v, m.sizes.swap(m.vals[at], v)
		return out
	default:
		return m.withMore([]string{key}, []Value{v}, 1)
	}
}

// WithAll returns an object that differs in some fields, whose names are sorted and
// distinct; nil values remove them. It is With for each of them.
func (m *Map) WithAll(keys []string, vals []Value) *Map {
	more := 0
	for i, key := range keys {
		switch found := m.index(key) >= 0; {
		case found && vals[i] == nil:
			return m.withEach(keys, vals)
		case !found && vals[i] != nil:
			more++
		}
	}
	if more > 0 {
		return m.withMore(keys, vals, more)
	}
	return m.withEach(keys, vals)
}

func (m *Map) withEach(keys []string, vals []Value) *Map {
	for i, key := range keys {
		m = m.With(key, vals[i])
	}
	return m
}

// withMore is WithAll for some fields of which so many are new, and none is removed.
func (m *Map) withMore(keys []string, vals []Value, more int) *Map {
	n := len(m.vals) + more
	made := newMap(nil, n)
	if n > maxShared { // the names are made for this object alone
		names, out := m.merged(keys, vals, make([]string, 0, n), made.vals[:0])
		made.shape, made.vals = newShape(names), out
		return made.sized()
	}
	var few [maxShared]string
	names, out := m.merged(keys, vals, few[:0], made.vals[:0])
	made.shape, made.vals = shapeOf(names), out
	return made.sized()
}

// merged adds the fields with those of some sorted names to names and values, in order. What
// is between two of them is copied at once: the object may have many.
func (m *Map) merged(keys []string, vals []Value, names []string, out []Value) ([]string, []Value) {
	own, from := m.keys(), 0
	for i, key := range keys {
		at, found := slices.BinarySearch(own[from:], key)
		names, out = append(names, own[from:from+at]...), append(out, m.vals[from:from+at]...)
		if from += at; found {
			from++
		}
		if vals[i] != nil {
			names, out = append(names, key), append(out, vals[i])
		}
	}
	return append(names, own[from:]...), append(out, m.vals[from:]...)
}

// Merged returns one merge patch that does what m and another one do one after the other, or
// an object with null for what a patch of it removes.
func (m *Map) Merged(patch *Map) *Map {
	out := m
	for i := range patch.Len() {
		key, v := patch.At(i)
		was, isMap := out.Lookup(key).(*Map)
		now, alsoMap := v.(*Map)
		if isMap && alsoMap {
			v = was.Merged(now)
		}
		out = out.With(key, v)
	}
	return out
}

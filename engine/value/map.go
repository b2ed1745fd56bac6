package value

import (
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
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
	keys := few[:0]
	for k := range m {
		keys = append(keys, k)
	}
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

// Keys returns the names of the fields as CEL sees them, sorted; the slice must not
// be changed.
func (m *Map) Keys() []ref.Val { return m.boxedKeys() }

func (m *Map) boxedKeys() []ref.Val {
	if m == nil || m.shape == nil {
		return nil
	}
	return m.shape.boxed()
}

func (m *Map) keys() []string {
	if m == nil || m.shape == nil {
		return nil
	}
	return m.shape.keys
}

var _ traits.Mapper = (*Map)(nil)

// Find implements traits.Mapper.
func (m *Map) Find(key ref.Val) (ref.Val, bool) {
	k, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	v := m.Lookup(string(k))
	return v, v != nil
}

// Get implements traits.Indexer.
func (m *Map) Get(key ref.Val) ref.Val {
	if v, ok := m.Find(key); ok {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains implements traits.Container.
func (m *Map) Contains(key ref.Val) ref.Val {
	_, ok := m.Find(key)
	return types.Bool(ok)
}

// Size implements traits.Sizer.
func (m *Map) Size() ref.Val { return types.Int(len(m.vals)) }

// IsSet implements traits.FieldTester.
func (m *Map) IsSet(field ref.Val) ref.Val { return m.Contains(field) }

// Type implements ref.Val.
func (m *Map) Type() ref.Type { return types.MapType }

// Value implements ref.Val. A Map is its own native form.
func (m *Map) Value() any { return m }

// Equal implements ref.Val, with CEL's equality of fields.
func (m *Map) Equal(other ref.Val) ref.Val {
	if o, ok := other.(*Map); ok {
		return types.Bool(m == o || m.equalMap(o))
	}
	o, ok := other.(traits.Mapper)
	if !ok || o.Size() != m.Size() {
		return types.False
	}
	for i, key := range m.boxedKeys() {
		v, found := o.Find(key)
		if !found || m.vals[i].Equal(v) != types.True {
			return types.False
		}
	}
	return types.True
}

func (m *Map) equalMap(o *Map) bool {
	if len(m.vals) != len(o.vals) || m.shape != o.shape && !slices.Equal(m.keys(), o.keys()) {
		return false
	}
	for i := range m.vals {
		if !equalItems(m.vals[i], o.vals[i]) {
			return false
		}
	}
	return true
}

// ConvertToType implements ref.Val.
func (m *Map) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return m
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("type conversion error from 'map' to '%s'", t)
}

// ConvertToNative implements ref.Val, for the CEL libraries that ask for it.
func (m *Map) ConvertToNative(t reflect.Type) (any, error) {
	if t == reflect.TypeFor[*Map]() || t.Kind() == reflect.Interface && t.NumMethod() == 0 {
		return m, nil
	}
	plain := make(map[ref.Val]ref.Val, len(m.vals))
	for i, key := range m.boxedKeys() {
		plain[key] = m.vals[i]
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, plain).ConvertToNative(t)
}

// Iterator implements traits.Iterable: the keys, sorted.
func (m *Map) Iterator() traits.Iterator {
	return &iterator{items: m.boxedKeys()}
}

// Fold implements traits.Foldable.
func (m *Map) Fold(f traits.Folder) {
	for i, key := range m.boxedKeys() {
		if !f.FoldEntry(key, m.vals[i]) {
			return
		}
	}
}

// IsZeroValue implements traits.Zeroer.
func (m *Map) IsZeroValue() bool { return len(m.vals) == 0 }

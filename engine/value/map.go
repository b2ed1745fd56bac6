package value

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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

// shape is a sorted list of field names, shared by all objects that have
// exactly these.
type shape struct {
	keys []string
	// boxed are the same names as CEL sees them, made when first asked for.
	boxed func() []ref.Val
	// json is what stands before each value in JSON, made when first asked for.
	json atomic.Pointer[[]string]
	// table finds a name among many, once it is worth it; asked counts the searches
	// before that.
	table atomic.Pointer[map[string]int32]
	asked atomic.Int32
	// next stands behind the name among many that was found last.
	next atomic.Int32
}

func newShape(keys []string) *shape {
	return &shape{keys: keys, boxed: sync.OnceValue(func() []ref.Val {
		out := make([]ref.Val, len(keys))
		for i, k := range keys {
			out[i] = types.String(k)
		}
		return out
	})}
}

var (
	shapes     sync.Map
	shapeCount atomic.Int64
	noKeys     = newShape(nil)
)

// maxShapes bounds the table of shapes: names can be chosen by whoever writes
// labels, so past this an object keeps names of its own.
const maxShapes = 1 << 16

// maxShared is the largest object that shares its names: larger ones are maps
// of data, and naming their shape would cost more than it saves.
const maxShared = 32

func shapeOf(keys []string) *shape {
	if len(keys) == 0 {
		return noKeys
	}
	if len(keys) > maxShared {
		return newShape(keys)
	}
	id := strings.Join(keys, "\x00")
	if s, ok := shapes.Load(id); ok {
		return s.(*shape)
	}
	s := newShape(slices.Clone(keys))
	if shapeCount.Add(1) > maxShapes {
		return s
	}
	kept, _ := shapes.LoadOrStore(id, s)
	return kept.(*shape)
}

// Empty is the object without fields.
var Empty = &Map{shape: noKeys}

// NewMap makes an object of sorted, distinct keys and their values. Both
// slices belong to the object afterwards.
func NewMap(keys []string, vals []Value) *Map {
	if len(keys) == 0 {
		return Empty
	}
	return &Map{shape: shapeOf(keys), vals: vals, sizes: sizesOfParts(keys, vals)}
}

// FromMap makes an object of a Go map.
func FromMap(m map[string]Value) *Map {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	vals := make([]Value, len(keys))
	for i, k := range keys {
		vals[i] = m[k]
	}
	return NewMap(keys, vals)
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
		vals := slices.Clone(m.vals)
		vals[at] = v
		return &Map{shape: m.shape, vals: vals, sizes: m.sizes.swap(m.vals[at], v)}
	default:
		return NewMap(slices.Insert(slices.Clone(m.keys()), at, key), slices.Insert(slices.Clone(m.vals), at, v))
	}
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

package value

import (
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

var _ traits.Mapper = (*Map)(nil)

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

package value

import "github.com/google/cel-go/common/types"

// HasOptionals reports whether a value may be an optional, or have some in it. It takes
// no longer for a large value than for a small one.
func HasOptionals(v Value) bool {
	switch v := v.(type) {
	case *Map:
		return v.sizes.optionals
	case *List:
		return v.sizes.optionals
	case *types.Optional:
		return true
	}
	return false
}

// Written returns a value as it is written: optionals are what they have, and fields and
// items without a value are left out. It is nil for an optional without one.
func Written(v Value) Value {
	v = Unwrap(v)
	if !HasOptionals(v) {
		return v
	}
	switch v := v.(type) {
	case *Map:
		return writtenMap(v)
	case *List:
		return writtenList(v)
	}
	return Written(v) // an optional in an optional
}

func writtenMap(m *Map) *Map {
	out := make(map[string]Value, m.Len())
	for i := range m.Len() {
		name, v := m.At(i)
		if v = Written(v); v != nil {
			out[name] = v
		}
	}
	return FromMap(out)
}

func writtenList(l *List) *List {
	items := make([]Value, 0, l.Len())
	for _, v := range l.items {
		if v = Written(v); v != nil {
			items = append(items, v)
		}
	}
	return NewList(items)
}

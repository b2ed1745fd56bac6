package value

import (
	"slices"

	"github.com/google/cel-go/common/types"
)

// Same compares as JSON, with absent and null equal.
func Same(a, b Value) bool {
	if same(a, b) {
		return true
	}
	if IsNull(a) || IsNull(b) {
		return IsNull(a) && IsNull(b)
	}
	switch x := a.(type) {
	case *Map:
		y, ok := b.(*Map)
		return ok && sameFields(x, y)
	case *List:
		y, ok := b.(*List)
		return ok && slices.EqualFunc(x.items, y.items, Same)
	}
	if hasText(a) || hasText(b) { // a text that is there, and what is wanted
		return plainScalar(a) == plainScalar(b)
	}
	return a.Equal(b) == types.True
}

// hasText reports whether a value is stored as a text, without being one.
func hasText(v Value) bool {
	switch v.(type) {
	case types.String, types.Bool, types.Int, types.Uint, types.Double, types.Null, *Map, *List:
		return false
	}
	return true
}

func sameFields(x, y *Map) bool {
	i, j := 0, 0
	for i < len(x.vals) || j < len(y.vals) {
		switch {
		case j >= len(y.vals) || i < len(x.vals) && x.shape.keys[i] < y.shape.keys[j]:
			if !IsNull(x.vals[i]) {
				return false
			}
			i++
		case i >= len(x.vals) || x.shape.keys[i] > y.shape.keys[j]:
			if !IsNull(y.vals[j]) {
				return false
			}
			j++
		default:
			if !Same(x.vals[i], y.vals[j]) {
				return false
			}
			i, j = i+1, j+1
		}
	}
	return true
}

// SameUnder compares only what the mask keeps: the difference that an event
// makes to somebody who reads no more than that.
func SameUnder(a, b Value, mask *Mask) bool {
	if mask == nil || same(a, b) {
		return true
	}
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if mask.All {
		return Alike(a, b)
	}
	switch x := a.(type) {
	case *Map:
		y, ok := b.(*Map)
		return ok && sameFieldsUnder(x, y, mask)
	case *List:
		y, ok := b.(*List)
		return ok && slices.EqualFunc(x.items, y.items, func(p, q Value) bool { return SameUnder(p, q, mask.Each) })
	}
	return Alike(a, b)
}

func sameFieldsUnder(x, y *Map, mask *Mask) bool {
	for name, m := range mask.Fields {
		if !SameUnder(x.Lookup(name), y.Lookup(name), m) {
			return false
		}
	}
	if mask.Each == nil {
		return true
	}
	if !slices.Equal(x.keys(), y.keys()) {
		return false
	}
	for i := range x.vals {
		if !SameUnder(x.vals[i], y.vals[i], mask.Each) {
			return false
		}
	}
	return true
}

package value

import (
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// List is an immutable JSON array. Its zero value is the empty array.
type List struct {
	items []Value
	sizes sizes
	// texts is what is known of the texts of the items and in them; nil if nothing is.
	texts atomic.Pointer[texts]
}

// EmptyList is the array without items.
var EmptyList = &List{}

// NewList makes an array. The slice belongs to it afterwards.
func NewList(items []Value) *List { return &List{items: items, sizes: sizesOfParts(nil, items)} }

// Len returns the number of items.
func (l *List) Len() int { return len(l.items) }

// At returns the i-th item.
func (l *List) At(i int) Value { return l.items[i] }

// Items returns the items; the slice must not be changed.
func (l *List) Items() []Value { return l.items }

var _ traits.Lister = (*List)(nil)

// Add implements traits.Adder.
func (l *List) Add(other ref.Val) ref.Val {
	return types.NewRefValList(types.DefaultTypeAdapter, l.items).(traits.Adder).Add(other)
}

// Contains implements traits.Container.
func (l *List) Contains(v ref.Val) ref.Val {
	if s, text := v.(types.String); text && len(l.items) >= manyTexts {
		return types.Bool(l.holds(s))
	}
	return types.Bool(l.has(v))
}

// has looks for a value among the items, one by one.
func (l *List) has(v ref.Val) bool {
	return slices.ContainsFunc(l.items, func(item Value) bool { return same(item, v) || item.Equal(v) == types.True })
}

// Get implements traits.Indexer.
func (l *List) Get(index ref.Val) ref.Val {
	i, err := types.IndexOrError(index)
	if err != nil {
		return types.ValOrErr(index, "%v", err)
	}
	if i < 0 || i >= len(l.items) {
		return types.NewErr("index '%d' out of range in list of size '%d'", i, len(l.items))
	}
	return l.items[i]
}

// Size implements traits.Sizer.
func (l *List) Size() ref.Val { return types.Int(len(l.items)) }

// Type implements ref.Val.
func (l *List) Type() ref.Type { return types.ListType }

// Value implements ref.Val: the items.
func (l *List) Value() any { return l.items }

// Equal implements ref.Val.
func (l *List) Equal(other ref.Val) ref.Val {
	if o, ok := other.(*List); ok {
		return types.Bool(l == o || slices.EqualFunc(l.items, o.items, equalItems))
	}
	o, ok := other.(traits.Lister)
	if !ok || o.Size() != l.Size() {
		return types.False
	}
	for i, item := range l.items {
		v := o.Get(types.Int(i))
		if !same(item, v) && item.Equal(v) != types.True {
			return types.False
		}
	}
	return types.True
}

// equalItems compares by identity first: lists of the same objects are common.
func equalItems(a, b Value) bool {
	if x, ok := a.(*Map); ok {
		if y, ok := b.(*Map); ok {
			return x == y || x.equalMap(y)
		}
	}
	return a.Equal(b) == types.True
}

// ConvertToType implements ref.Val.
func (l *List) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.ListType:
		return l
	case types.TypeType:
		return types.ListType
	}
	return types.NewErr("type conversion error from 'list' to '%s'", t)
}

// ConvertToNative implements ref.Val, for the CEL libraries that ask for it.
func (l *List) ConvertToNative(t reflect.Type) (any, error) {
	return types.NewRefValList(types.DefaultTypeAdapter, l.items).ConvertToNative(t)
}

// Iterator implements traits.Iterable.
func (l *List) Iterator() traits.Iterator { return &iterator{items: l.items} }

// Fold implements traits.Foldable.
func (l *List) Fold(f traits.Folder) {
	for i, v := range l.items {
		if !f.FoldEntry(types.Int(i), v) {
			return
		}
	}
}

// iterator walks a slice.
type iterator struct {
	types.Null // the parts of ref.Val that nobody asks an iterator for
	items      []Value
	next       int
}

// HasNext implements traits.Iterator.
func (it *iterator) HasNext() ref.Val { return types.Bool(it.next < len(it.items)) }

// Next implements traits.Iterator.
func (it *iterator) Next() ref.Val {
	if it.next >= len(it.items) {
		return nil
	}
	v := it.items[it.next]
	it.next++
	return v
}

// IsZeroValue implements traits.Zeroer: optional.ofNonZeroValue of an empty
// list is none.
func (l *List) IsZeroValue() bool { return len(l.items) == 0 }

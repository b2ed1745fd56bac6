package eval

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// view is a map as an expression sees it. It records which entries are looked
// up, so that a change of another entry neither wakes the key nor recomputes
// what looked up this one.
type view struct {
	*value.Map
	reader *memoReader
	slot   plan.Slot
}

var _ traits.Mapper = (*view)(nil)

func (v *view) all() *value.Map {
	v.reader.saw(v.slot, v.Map)
	return v.Map
}

// Find implements traits.Mapper.
func (v *view) Find(key ref.Val) (ref.Val, bool) {
	out, ok := v.Map.Find(key)
	if text, isText := value.Str(key); isText {
		v.reader.looked(v.slot, text, out)
	}
	return out, ok
}

// Get implements traits.Indexer.
func (v *view) Get(key ref.Val) ref.Val {
	if out, ok := v.Find(key); ok {
		return out
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains implements traits.Container.
func (v *view) Contains(key ref.Val) ref.Val {
	_, ok := v.Find(key)
	return types.Bool(ok)
}

// IsSet implements traits.FieldTester.
func (v *view) IsSet(key ref.Val) ref.Val { return v.Contains(key) }

// Size implements traits.Sizer.
func (v *view) Size() ref.Val { return v.all().Size() }

// Iterator implements traits.Iterable.
func (v *view) Iterator() traits.Iterator { return v.all().Iterator() }

// Fold implements traits.Foldable.
func (v *view) Fold(f traits.Folder) { v.all().Fold(f) }

// Equal implements ref.Val.
func (v *view) Equal(other ref.Val) ref.Val { return v.all().Equal(other) }

// Value implements ref.Val.
func (v *view) Value() any { return v.all() }

package cel

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// maxDeep is where counting the bytes of a value ends: it is more than any
// evaluation may build.
const maxDeep = 2 * expr.EvaluationBytes

// textBytes is the length of a text, 0 for anything else.
func textBytes(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	}
	return 0
}

// length is the number of items or entries, 0 for anything else.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String, types.Bytes:
		return 0
	case traits.Sizer:
		n, _ := v.Size().(types.Int)
		return int(n)
	}
	return 0
}

// deep is how many bytes values have, with all that is in them and as often as
// it is named there; expr.Uncounted when that is more than maxDeep. Values that
// are settled know it.
func deep(list ...ref.Val) int {
	d := deepener{left: maxDeep}
	for _, v := range list {
		d.add(v)
	}
	if d.left < 0 {
		return expr.Uncounted
	}
	return maxDeep - d.left
}

type deepener struct{ left int }

func (d *deepener) add(v ref.Val) {
	switch v := value.Unwrap(v).(type) {
	case nil, types.String, types.Bytes, types.Bool, types.Int, types.Uint, types.Double, types.Null, types.Timestamp, types.Duration:
		d.left -= value.Deep(v)
	case *value.Map, *value.List:
		d.left -= value.Deep(v)
	case traits.Mapper:
		d.mapper(v)
	case traits.Lister:
		d.left -= value.HolderBytes
		eachItem(v, func(item ref.Val) bool { d.add(item); return d.left >= 0 })
	default:
		d.left -= opaque(v)
	}
}

func (d *deepener) mapper(m traits.Mapper) {
	if n := value.Deep(m); n > value.ScalarBytes { // a map that is looked over
		d.left -= n
		return
	}
	d.left -= value.HolderBytes
	for it := m.Iterator(); d.left >= 0 && it.HasNext() == types.True; {
		key := it.Next()
		d.add(key)
		if v, ok := m.Find(key); ok {
			d.add(v)
		}
	}
}

// eachItem visits the items of a list until visit returns false.
func eachItem(l traits.Lister, visit func(ref.Val) bool) {
	for it := l.Iterator(); it.HasNext() == types.True; {
		if !visit(it.Next()) {
			return
		}
	}
}

// textsOf adds up the texts of a list, up to a limit; other items count nothing.
func textsOf(v ref.Val, limit int) (sum int) {
	if l, ok := v.(traits.Lister); ok {
		eachItem(l, func(item ref.Val) bool { sum += textBytes(item); return sum <= limit })
	}
	if sum > limit {
		return expr.Uncounted
	}
	return sum
}

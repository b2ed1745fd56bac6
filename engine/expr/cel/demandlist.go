package cel

import (
	"math/bits"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// items is the need of a call that builds a list of n items.
func items(n int) expr.Need {
	return expr.Need{Work: 1 + units(n, itemsPerUnit), Bytes: value.HolderBytes + times(n, 2*value.ScalarBytes)}
}

// relisted is for functions that give all items of a list, or a part of them.
func relisted(a *callArgs) expr.Need { return items(length(a[0])) }

// longestRange is where lists.range refuses by itself.
const longestRange = 1_000_000

func ranged(a *callArgs) expr.Need {
	n, _ := a[0].(types.Int)
	if n < 0 || n > longestRange {
		return expr.Need{Work: 1}
	}
	need := items(int(n))
	need.Work = uint64(n) + 1
	return need
}

// summed is for functions that go through a list once and compare its texts.
func summed(a *callArgs) expr.Need {
	m := measure{}
	return expr.Need{Work: 1 + units(m.textsOf(a[0], expr.Uncounted-1), bytesPerUnit) + units(length(a[0]), itemsPerUnit) + m.work()}
}

// sorted sorts by the items themselves, or by a list of keys.
func sorted(a *callArgs) expr.Need {
	keys := a[0]
	if a[1] != nil {
		keys = a[1]
	}
	n, m := length(keys), measure{}
	depth := bits.Len(uint(n))
	return expr.Need{
		Work:  1 + units(times(n, depth), 2) + units(times(m.textsOf(keys, maxDeep), depth), bytesPerUnit) + m.work(),
		Bytes: value.HolderBytes + 4*value.ScalarBytes*n,
	}
}

// flattened counts what flatten visits, and stops where that is more than fits.
func flattened(a *callArgs) expr.Need {
	depth := types.Int(1)
	if n, ok := a[1].(types.Int); ok {
		depth = n
	}
	const most = expr.EvaluationBytes / value.ScalarBytes
	f := flattener{left: most}
	if l, ok := a[0].(traits.Lister); ok && depth >= 0 {
		f.list(l, int64(depth))
	}
	if f.left < 0 {
		return expr.Need{Bytes: expr.Uncounted}
	}
	return items(most - f.left)
}

type flattener struct{ left int }

func (f *flattener) list(l traits.Lister, depth int64) {
	f.left--
	eachItem(l, func(item ref.Val) bool {
		if inner, ok := item.(traits.Lister); ok && depth > 0 {
			f.list(inner, depth-1)
		}
		f.left--
		return f.left >= 0
	})
}

// compared is for two values that are compared with all that is in them, unless
// they differ in length.
func compared(a *callArgs) expr.Need {
	x, y := value.Unwrap(a[0]), value.Unwrap(a[1])
	switch {
	case x == nil || y == nil || textBytes(x) != textBytes(y) || length(x) != length(y):
		return expr.Need{}
	case quick(x) || quick(y):
		return expr.Need{Work: units(textBytes(x), bytesPerUnit)}
	}
	m := measure{}
	return expr.Need{Work: units(m.smaller(x, y), comparisonsPerUnit*value.ScalarBytes/4) + m.work()}
}

// scanned is for functions that go through texts once and build nothing.
func scanned(a *callArgs) expr.Need {
	return expr.Need{Work: units(textBytes(a[0])+textBytes(a[1]), bytesPerUnit)}
}

// interpreted is for a text that is read as a number or a time, one character after
// the other.
func interpreted(a *callArgs) expr.Need {
	return expr.Need{Work: units(textBytes(a[0]), charactersPerUnit)}
}

// contained is for looking for a text in another.
func contained(a *callArgs) expr.Need {
	return expr.Need{Work: units(textBytes(a[0])+textBytes(a[1]), bytesPerUnit/10)}
}

// inserted is for one map, or a key and a value, that are put into another map. A loop
// puts them into one that grows in its place; any other is copied for each entry.
func inserted(a *callArgs) expr.Need {
	n, key, copied := length(a[1]), uint64(0), 0
	if a[2] != nil {
		n, key = 1, looked(&callArgs{a[1]}).Work
	}
	switch _, grows := a[0].(traits.MutableMapper); {
	case !grows:
		copied = times(n+1, length(a[0])+1)
	case a[2] != nil:
		return expr.Need{Work: key}
	}
	return expr.Need{Work: key + units(n, itemsPerUnit) + units(copied, walkedPerUnit), Bytes: value.HolderBytes + times(8*value.ScalarBytes, n+copied)}
}

// included is list.includes(x). What is no list is compared with x.
func included(a *callArgs) expr.Need {
	if _, list := a[0].(traits.Lister); !list {
		return compared(a)
	}
	return memberOf(&callArgs{a[1], a[0]})
}

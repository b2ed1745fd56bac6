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
	return expr.Need{Work: 1 + units(length(a[0]), itemsPerUnit) + units(textsOf(a[0], expr.Uncounted-1), bytesPerUnit)}
}

// sorted sorts by the items themselves, or by a list of keys.
func sorted(a *callArgs) expr.Need {
	keys := a[0]
	if a[1] != nil {
		keys = a[1]
	}
	n := length(keys)
	depth := bits.Len(uint(n))
	return expr.Need{
		Work:  1 + units(times(n, depth), 2) + units(times(textsOf(keys, maxDeep), depth), bytesPerUnit),
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

// compared is for two values that are compared with all that is in them.
func compared(a *callArgs) expr.Need {
	switch {
	case textBytes(a[0]) > 0:
		return expr.Need{Work: units(min(textBytes(a[0]), textBytes(a[1])), bytesPerUnit)}
	case quick(a[0]) || quick(a[1]):
		return expr.Need{}
	}
	return expr.Need{Work: units(min(deep(a[0]), deep(a[1])), comparisonsPerUnit*value.ScalarBytes/4)}
}

// quick reports whether a comparison with a value takes one step, or a single
// pass over a text.
func quick(v ref.Val) bool {
	switch v.(type) {
	case types.Bool, types.Int, types.Uint, types.Double, types.Null, types.Timestamp, types.Duration, types.String, types.Bytes:
		return true
	}
	return false
}

// scanned is for functions that go through texts once and build nothing.
func scanned(a *callArgs) expr.Need {
	return expr.Need{Work: units(textBytes(a[0])+textBytes(a[1]), bytesPerUnit)}
}

// contained is for looking for a text in another.
func contained(a *callArgs) expr.Need {
	return expr.Need{Work: units(textBytes(a[0])+textBytes(a[1]), bytesPerUnit/10)}
}

// inserted is for one map that is put into another. A loop puts it into one that
// grows in its place; any other is copied for each entry.
func inserted(a *callArgs) expr.Need {
	if a[2] != nil { // a key and a value
		return expr.Need{}
	}
	n, copied := length(a[1]), 0
	if _, grows := a[0].(traits.MutableMapper); !grows {
		copied = times(n+1, length(a[0]))
	}
	return expr.Need{Work: units(n+copied, itemsPerUnit), Bytes: value.HolderBytes + times(8*value.ScalarBytes, n+copied)}
}

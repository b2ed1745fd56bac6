package verify

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/simulate"
)

// shrink leaves out objects and moves while the trial still comes to the same.
func (ts *trials) shrink(ctx context.Context, t trial) trial {
	if t.kind == Failed || t.kind == Oscillation {
		t.suffix, t.prefix = nil, slices.Concat(t.prefix, t.suffix)
	}
	t.quick = true
	for again := true; again && ctx.Err() == nil; {
		again = false
		t.objects = fewer(t.objects, &again, func(list []simulate.Object) bool {
			one := t
			one.objects = list
			return ts.try(ctx, one).wrong
		})
		t.prefix = fewer(t.prefix, &again, func(list []Move) bool {
			one := t
			one.prefix = list
			return ts.try(ctx, one).wrong
		})
		t.suffix = fewer(t.suffix, &again, func(list []Move) bool {
			one := t
			one.suffix = list
			return ts.try(ctx, one).wrong
		})
	}
	t.quick = false
	return t
}

// fewer leaves out parts of a list, long ones first, while it stays wrong.
func fewer[T any](list []T, less *bool, wrong func([]T) bool) []T {
	for size := len(list); size > 0; size /= 2 {
		for at := len(list) - size; at >= 0; at -= size {
			if at+size > len(list) {
				continue
			}
			without := slices.Delete(slices.Clone(list), at, at+size)
			if wrong(without) {
				list, *less = without, true
			}
		}
	}
	return list
}

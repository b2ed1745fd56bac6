// Package maps puts maps together.
package maps

import (
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns maps.merge.
func Functions() []expr.Function {
	of := expr.MapOf(expr.Dyn)
	return []expr.Function{{
		Name: "maps.merge", Args: []expr.Type{of, of}, Result: of,
		Doc:     "a map with the entries of two; where both have a key, the value of the second",
		Example: `maps.merge({"team": "none"}, object.metadata.labels)`,
		Needs: func(args []value.Value) expr.Need {
			n, keys := 0, 0
			for _, a := range args {
				m, _ := a.(*value.Map)
				for i := range length(a) {
					key, _ := m.At(i)
					n, keys = n+1, keys+len(key)
				}
			}
			return expr.Need{Work: 1 + uint64(n) + expr.Units(keys, 100), Bytes: expr.Times(n, 64), Scratch: expr.Times(n, 64)}
		},
		Do: merge,
	}}
}

func length(v value.Value) int {
	if m, ok := v.(*value.Map); ok {
		return m.Len()
	}
	return 0
}

func merge(_ *expr.Call, args []value.Value) (value.Value, error) {
	a, ok := args[0].(*value.Map)
	b, also := args[1].(*value.Map)
	if !ok || !also {
		return nil, fmt.Errorf("maps.merge takes two maps, not %s and %s", args[0].Type().TypeName(), args[1].Type().TypeName())
	}
	entries := make(map[string]value.Value, a.Len()+b.Len())
	for _, m := range []*value.Map{a, b} {
		for i := range m.Len() {
			key, v := m.At(i)
			entries[key] = v
		}
	}
	return value.FromMap(entries), nil
}

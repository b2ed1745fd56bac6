// Package memory recalls what earlier evaluations of a key remembered.
package memory

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns memory.get.
func Functions() []expr.Function {
	return []expr.Function{{
		Name: "memory.get", Args: []expr.Type{expr.String}, Result: expr.OptionalOf(expr.Dyn), Recalls: true,
		Doc: "what an earlier evaluation of this key remembered under a name; none when nothing was", Example: `memory.get("hash").orValue("")`,
		Needs: func(args []value.Value) expr.Need { return expr.Need{Work: expr.Units(value.Size(args[0]), 1000)} },
		Do: func(call *expr.Call, args []value.Value) (value.Value, error) {
			name, _ := value.Str(args[0])
			if v := call.Recall(name); v != nil {
				return value.Some(v), nil
			}
			return value.None, nil
		},
	}}
}

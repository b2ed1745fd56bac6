// Package memory recalls what earlier evaluations of a key remembered.
package memory

import "github.com/edict-dev/edict/engine/expr"

// Functions gives memory.get, which this build declares only.
func Functions() []expr.Function {
	return []expr.Function{{
		Name: "memory.get", Args: []expr.Type{expr.String}, Result: expr.OptionalOf(expr.Dyn), Recalls: true,
		Doc: "what was remembered under a name", Example: `memory.get("hash").orValue("")`,
	}}
}

// Package text fills in texts.
package text

import "github.com/edict-dev/edict/engine/expr"

// Functions gives text.envsubst, which this build declares only.
func Functions() []expr.Function {
	return []expr.Function{{
		Name: "text.envsubst", Args: []expr.Type{expr.String, expr.MapOf(expr.String)}, Result: expr.String,
		Doc: "a text with $NAME and ${NAME} replaced", Example: `text.envsubst(image, {"KERNEL": kernel})`,
	}}
}

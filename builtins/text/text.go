// Package text fills in texts.
package text

import (
	"fmt"

	"github.com/a8m/envsubst/parse"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions gives text.envsubst.
func Functions() []expr.Function {
	return []expr.Function{{
		Name: "text.envsubst", Args: []expr.Type{expr.String, expr.MapOf(expr.String)}, Result: expr.String,
		Doc:     "a text with $NAME and ${NAME} replaced, as a shell does; a name without a value is an error",
		Example: `text.envsubst(image, {"KERNEL": kernel})`,
		Do:      envsubst,
	}}
}

func envsubst(_ *expr.Call, args []value.Value) (value.Value, error) {
	text, _ := value.Str(args[0])
	values, ok := args[1].(*value.Map)
	if !ok {
		return nil, fmt.Errorf("the values must be a map, not %s", args[1].Type().TypeName())
	}
	env := make([]string, values.Len())
	for i := range env {
		name, v := values.At(i)
		s, isText := value.Str(v)
		if !isText {
			return nil, fmt.Errorf("the value of %s must be a string", name)
		}
		env[i] = name + "=" + s
	}
	out, err := parse.New("text", env, parse.NoUnset).Parse(text)
	if err != nil {
		return nil, err
	}
	return value.OfString(out), nil
}

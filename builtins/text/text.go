// Package text fills in texts.
package text

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/a8m/envsubst/parse"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns text.envsubst.
func Functions() []expr.Function {
	return []expr.Function{{
		Name: "text.envsubst", Args: []expr.Type{expr.String, expr.MapOf(expr.String)}, Result: expr.String,
		Doc:     "a text with $NAME and ${NAME} replaced, as a shell does; a name without a value is an error",
		Example: `text.envsubst(image, {"KERNEL": kernel})`,
		Needs:   need,
		Do:      envsubst,
	}}
}

// need counts each $ of the text as a name with the longest value, each of which
// copies what was put together so far, and all of the values, of which a list is made.
func need(args []value.Value) expr.Need {
	text, _ := value.Str(args[0])
	values, _ := args[1].(*value.Map)
	longest, names := 0, strings.Count(text, "$")
	values = cmp.Or(values, value.Empty)
	for i := range values.Len() {
		_, v := values.At(i)
		longest = max(longest, value.Size(v))
	}
	n := len(text) + expr.Times(names, longest)
	return expr.Need{
		Work: 1 + expr.Units(values.Len(), 2) + expr.Units(value.Deep(values), 100) + expr.Units(n, 10) + expr.Units(expr.Times(names, n), 200) + expr.Units(expr.Times(names, values.Len()), 10),
		Text: n, Scratch: value.Deep(args[1]) + expr.Times(names, 256),
	}
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

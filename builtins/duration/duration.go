// Package duration parses durations that are data.
package duration

import (
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns duration.parse.
func Functions() []expr.Function {
	return []expr.Function{{
		Name: "duration.parse", Args: []expr.Type{expr.String}, Result: expr.OptionalOf(expr.Duration),
		Doc:     "the duration that a text such as 90s or 1h30m stands for; none when it stands for none",
		Example: `duration.parse(object.metadata.annotations["ttl"]).orValue(duration("1h"))`,
		Needs:   expr.Linear(64),
		Do: func(_ *expr.Call, args []value.Value) (value.Value, error) {
			text, _ := value.Str(args[0])
			d, err := time.ParseDuration(text)
			if err != nil {
				return value.None, nil //nolint:nilerr // what is not a duration has none
			}
			return value.Some(value.OfDuration(d)), nil
		},
	}}
}

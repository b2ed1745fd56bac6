// Package duration parses durations and times that are data.
package duration

import (
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns duration.parse and timestamp.parse.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "duration.parse", Args: []expr.Type{expr.String}, Result: expr.OptionalOf(expr.Duration),
			Doc:     "the duration that a text such as 90s or 1h30m stands for; none when it stands for none",
			Example: `duration.parse(object.metadata.annotations["ttl"]).orValue(duration("1h"))`,
			Needs:   expr.Linear(64),
			Do: parse(func(text string) (value.Value, bool) {
				d, err := time.ParseDuration(text)
				return value.OfDuration(d), err == nil
			}),
		},
		{
			Name: "timestamp.parse", Args: []expr.Type{expr.String}, Result: expr.OptionalOf(expr.Timestamp),
			Doc:     "the time that a text in the form of RFC 3339 stands for, as timestamp(text) reads it; none when it stands for none",
			Example: `timestamp.parse(object.metadata.annotations["until"]).hasValue()`,
			Needs:   expr.Linear(64),
			Do:      parse(value.ParseTime),
		},
	}
}

// parse gives the value that a text has, none for a text that has none.
func parse(read func(string) (value.Value, bool)) func(*expr.Call, []value.Value) (value.Value, error) {
	return func(_ *expr.Call, args []value.Value) (value.Value, error) {
		text, _ := value.Str(args[0])
		if v, ok := read(text); ok {
			return value.Some(v), nil
		}
		return value.None, nil
	}
}

package calendar

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/week"
)

func within(call *expr.Call, args []value.Value) (value.Value, error) {
	text, _ := value.Str(args[0])
	if len(text) > maxText {
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(text), maxText)
	}
	windows, err := week.Parse(text)
	if err != nil {
		return nil, err
	}
	zone, err := location(args[1])
	if err != nil {
		return nil, err
	}
	around := func(at time.Time) (out []week.Span) {
		for _, w := range windows {
			out = append(out, w.Spans(at.In(zone))...)
		}
		return out
	}
	if at := week.Change(around, call.Now); !at.IsZero() {
		call.Flip(at)
	}
	return value.OfBool(week.Inside(around(call.Now), call.Now)), nil
}

// Package calendar compares with times of the week and with schedules in the form
// of cron. A policy that asks is evaluated again exactly when the answer changes.
package calendar

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/week"
)

// Functions returns time.within, cron.last and cron.next.
func Functions() []expr.Function {
	args := []expr.Type{expr.String, expr.String}
	return []expr.Function{
		{
			Name: "time.within", Args: args, StandIns: texts("00:00-24:00", "Etc/UTC"), Result: expr.Bool, Timed: true, Needs: need(400),
			Doc:     "whether it is a time of the week, in a time zone: days and hours, several joined by ;",
			Example: `time.within("Mon-Fri 08:00-20:00", "Europe/Berlin")`,
			Do:      within,
		},
		{
			Name: "cron.last", Args: args, StandIns: texts("* * * * *", "Etc/UTC"), Result: expr.Timestamp, Timed: true, Needs: need(2_000),
			Doc:     "the last time, up to now, of a schedule as in a CronJob, in a time zone",
			Example: `cron.last("0 3 * * *", "Etc/UTC")`,
			Do:      last,
		},
		{
			Name: "cron.next", Args: args, StandIns: texts("* * * * *", "Etc/UTC"), Result: expr.Timestamp, Timed: true, Needs: need(500),
			Doc:     "the next time, after now, of a schedule as in a CronJob, in a time zone",
			Example: `cron.next("0 3 * * *", "Etc/UTC")`,
			Do:      next,
		},
	}
}

func texts(list ...string) (out []value.Value) {
	for _, text := range list {
		out = append(out, value.OfString(text))
	}
	return out
}

// maxText bounds the texts of windows and schedules, in bytes.
const maxText = 256

func need(work uint64) func([]value.Value) expr.Need {
	return func(args []value.Value) expr.Need {
		n := min(value.Size(args[0])+value.Size(args[1]), 2*maxText)
		return expr.Need{Work: work + expr.Units(n, 1), Scratch: 16 << 10}
	}
}

// location returns a time zone by its name.
func location(v value.Value) (*time.Location, error) {
	name, _ := value.Str(v)
	zone, err := week.Location(name)
	if err != nil {
		return nil, fmt.Errorf("%q is not a time zone such as Etc/UTC or Europe/Berlin", value.Cut(name, week.MaxLocation))
	}
	return zone, nil
}

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

// Package grace compares with the time: whether a period since an instant is
// still running or over. A policy that asks is evaluated again exactly when
// the answer changes.
package grace

import (
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns grace.holds and elapsed.
func Functions() []expr.Function {
	args := []expr.Type{expr.Timestamp, expr.Duration}
	return []expr.Function{
		{
			Name: "grace.holds", Args: args, Result: expr.Bool, Timed: true, Small: true, Bounded: true,
			Doc:     "true until the period since an instant is over: now < since + period",
			Example: `grace.holds(condition.lastTransitionTime, params.period)`,
			Do: func(call *expr.Call, args []value.Value) (value.Value, error) {
				return value.OfBool(running(call, args)), nil
			},
		},
		{
			Name: "elapsed", Args: args, Result: expr.Bool, Timed: true, Small: true, Bounded: true,
			Doc:     "true from the instant on at which the period is over: now >= since + period",
			Example: `elapsed(object.metadata.creationTimestamp, duration("1h"))`,
			Do: func(call *expr.Call, args []value.Value) (value.Value, error) {
				return value.OfBool(!running(call, args)), nil
			},
		},
	}
}

// running reports whether the period is still running, and when that changes.
func running(call *expr.Call, args []value.Value) bool {
	since, _ := value.Time(args[0])
	period, _ := value.Duration(args[1])
	end := add(since, period)
	if !call.Now.Before(end) {
		return false
	}
	if end.Year() <= 9999 { // no later time can be written as RFC 3339
		call.Flip(end)
	}
	return true
}

// add is since+period without overflow: time.Time wraps around silently.
func add(since time.Time, period time.Duration) time.Time {
	end := since.Add(period)
	if period > 0 && end.Before(since) {
		return time.Unix(1<<62, 0)
	}
	return end
}

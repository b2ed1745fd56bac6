package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// parser takes five fields, or a name such as @daily, as a CronJob does.
var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// schedule returns a schedule and the time of the evaluation in its time zone.
func schedule(call *expr.Call, args []value.Value) (cron.Schedule, time.Time, error) {
	zone, err := location(args[1])
	if err != nil {
		return nil, time.Time{}, err
	}
	text, _ := value.Str(args[0])
	parsed, err := parse(text)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%q is not a schedule such as \"0 3 * * *\": %w", value.Cut(text, 64), err)
	}
	return parsed, call.Now.In(zone), nil
}

func parse(text string) (cron.Schedule, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(text), maxText)
	}
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		return nil, errors.New("the time zone is an argument of its own, not TZ= in the schedule")
	}
	out, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	if _, fixed := out.(*cron.SpecSchedule); !fixed {
		return nil, errors.New("@every depends on when it is asked")
	}
	return out, nil
}

func next(call *expr.Call, args []value.Value) (value.Value, error) {
	s, now, err := schedule(call, args)
	if err != nil {
		return nil, err
	}
	at := s.Next(now)
	if at.IsZero() {
		return nil, errNever
	}
	call.Flip(at)
	return value.OfTime(at), nil
}

var errNever = errors.New("the schedule names no time within five years")

// last searches the schedule backwards: in ever longer periods for one that has a
// time of it, and then for the last.
func last(call *expr.Call, args []value.Value) (value.Value, error) {
	s, now, err := schedule(call, args)
	if err != nil {
		return nil, err
	}
	if at := s.Next(now); !at.IsZero() {
		call.Flip(at)
	}
	for _, period := range periods {
		if from := now.Add(-period); reaches(s, from, now) {
			return value.OfTime(latest(s, from, now)), nil
		}
	}
	return nil, errNever
}

const day = 24 * time.Hour

var periods = []time.Duration{time.Hour, day, 32 * day, 366 * day, 5 * 366 * day}

// reaches reports whether the schedule has a time after from, up to now.
func reaches(s cron.Schedule, from, now time.Time) bool {
	at := s.Next(from)
	return !at.IsZero() && !at.After(now)
}

// latest returns the last time up to now. There is one after from.
func latest(s cron.Schedule, from, now time.Time) time.Time {
	for low, high := from, now; ; {
		middle := low.Add(high.Sub(low) / 2).Truncate(time.Second)
		switch {
		case !middle.After(low):
			return s.Next(low)
		case reaches(s, middle, now):
			low = middle
		default:
			high = middle
		}
	}
}

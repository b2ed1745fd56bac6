package eval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// pace has the rate of a rule, and the times of the period that ends now, in their order.
type pace struct {
	max   int
	per   time.Duration
	times []time.Time
}

// newPace computes a rate from the values of its expressions.
func newPace(rate *plan.Rate, eval func(*cel.Program) (value.Value, error), now time.Time) (p pace, err error) {
	var values [3]value.Value
	for i, program := range []*cel.Program{rate.Max, rate.Per, rate.Times} {
		if values[i], err = eval(program); err != nil {
			return p, err
		}
	}
	n, _ := values[0].Value().(int64)
	p.per, _ = value.Duration(values[1])
	switch {
	case n < 1 || n > plan.MaxRate:
		return p, &expr.Failure{At: rate.Max.Pos(), Err: fmt.Errorf("the max of the rate is %d, from 1 to %d are allowed", n, plan.MaxRate)}
	case p.per <= 0:
		return p, &expr.Failure{At: rate.Per.Pos(), Err: fmt.Errorf("the period of the rate is %s", p.per)}
	}
	p.max = int(n)
	text, _ := value.Str(values[2])
	for field := range strings.FieldsSeq(text) {
		if at, err := time.Parse(time.RFC3339, field); err == nil && at.Add(p.per).After(now) && !at.After(now.Add(plan.MaxAhead)) {
			p.times = append(p.times, at)
		}
	}
	slices.SortFunc(p.times, time.Time.Compare)
	p.times = p.times[max(0, len(p.times)-p.max):]
	return p, nil
}

// text returns the times as the annotation has them.
func (p *pace) text() string {
	out := make([]string, len(p.times))
	for i, at := range p.times {
		out[i] = at.UTC().Format(time.RFC3339)
	}
	return strings.Join(out, " ")
}

// ceil returns a time as a whole second, not before it.
func ceil(t time.Time) time.Time {
	if down := t.Truncate(time.Second); !down.Equal(t) {
		return down.Add(time.Second)
	}
	return t
}

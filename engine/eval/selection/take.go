package selection

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// The names under which a take excludes candidates.
const (
	overBudget = "budget"
	overMax    = "max"
)

// taking takes candidates in their order while there is room.
type taking struct {
	// budget is the whole of it, left what is left; bounded says that there is one.
	budget, left amount
	bounded      bool
	// max is how many more may be taken.
	max, of int64
	skip    bool
	// stopped says that a candidate did not fit, and that none after it is taken.
	stopped bool
	// dropped counts those that were not taken, by the bound that kept them out.
	dropped map[string]int
}

// taking evaluates the bounds of the take.
func (in *Input) taking() (*taking, error) {
	take := in.Select.Take
	out := &taking{max: math.MaxInt64, skip: take.SkipTooLarge, dropped: map[string]int{}}
	if take.Budget != nil {
		v, err := take.Budget.Eval(in.Scope, in.Meter)
		if err == nil {
			out.budget, err = amountOf(take.Budget, v)
		}
		if err == nil && math.IsNaN(out.budget.float()) {
			err = &expr.Failure{At: take.Budget.Pos(), Err: errors.New("the budget is not a number")}
		}
		if err != nil {
			return nil, err
		}
		out.bounded, out.left = true, out.budget
	}
	if take.Max == nil {
		return out, nil
	}
	v, err := take.Max.Eval(in.Scope, in.Meter)
	if err == nil {
		out.max, err = integer(take.Max, v)
	}
	out.of = out.max
	return out, err
}

// take takes the next candidate, if it may be taken, and says why.
func (t *taking) take(weight amount) (taken bool, by, why string) {
	switch {
	case t.stopped:
		by, why = overBudget, "one before it did not fit"
	case t.max <= 0:
		by, why = overMax, fmt.Sprintf("%d are taken", max(t.of, 0))
	case t.bounded && !weight.fits(t.left):
		by, why = overBudget, fmt.Sprintf("%s of %s left, needs %s", t.left, t.budget, weight)
		t.stopped = !t.skip
	default:
		return true, "", t.account(weight)
	}
	t.dropped[by]++
	return false, by, why
}

// account takes a weight from what is left, and says so.
func (t *taking) account(weight amount) (why string) {
	if t.bounded {
		why = fmt.Sprintf("takes %s of the %s left", weight, t.left)
		t.left = t.left.less(weight)
	}
	t.max--
	return why
}

// exclude counts what was not taken.
func (t *taking) exclude(o *Outcome) {
	for _, by := range []string{overBudget, overMax} {
		o.exclude(by, t.dropped[by])
	}
}

// weight checks the weight of a candidate.
func (in *Input) weight(v value.Value, candidate func() []value.Value) (amount, error) {
	p := in.Select.Take.Weight
	a, err := amountOf(p, v)
	if err != nil || a.isWeight() {
		return a, err
	}
	return a, &expr.Failure{At: p.Pos(), Err: fmt.Errorf(
		"the weight of %s is %s; a weight is a finite number of at least 0", in.nameOf(candidate()), a)}
}

// nameOf names a candidate by its parts.
func (in *Input) nameOf(candidate []value.Value) string {
	parts := make([]string, len(candidate))
	for i, v := range candidate {
		parts[i] = in.Select.Names[i] + " " + named(v)
	}
	return strings.Join(parts, ", ")
}

// maxNamed is how many bytes of a value are shown in place of a name.
const maxNamed = 100

// named is the name of a value, or else the beginning of what it is.
func named(v value.Value) string {
	if name := value.NameOf(v); name != "" {
		return strconv.Quote(name)
	}
	text, err := value.JSON(v)
	switch {
	case err != nil:
		return "of type " + v.Type().TypeName()
	case len(text) > maxNamed:
		return value.Cut(string(text), maxNamed) + "..."
	}
	return string(text)
}

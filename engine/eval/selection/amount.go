package selection

import (
	"fmt"
	"math"
	"strconv"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// amount is a weight or what is left of a budget: a whole number, which is exact, or
// a floating-point number.
type amount struct {
	whole bool
	n     int64
	f     float64
}

// one is the weight of a candidate without a weight.
var one = amount{whole: true, n: 1}

// amountOf returns the amount of a result.
func amountOf(p *cel.Program, v value.Value) (amount, error) {
	if n, ok := value.Int(v); ok {
		return amount{whole: true, n: n}, nil
	}
	if f, ok := value.Double(v); ok {
		return amount{f: f}, nil
	}
	return amount{}, &expr.Failure{At: p.Pos(), Err: fmt.Errorf("this gives %s, not a number", v.Type().TypeName())}
}

func (a amount) float() float64 {
	if a.whole {
		return float64(a.n)
	}
	return a.f
}

// fits reports whether a weight is at most what is left.
func (a amount) fits(left amount) bool {
	if a.whole && left.whole {
		return a.n <= left.n
	}
	return a.float() <= left.float()
}

// less returns what is left after a weight that fits. Whole numbers cannot
// overflow: the weight is not negative and not above what is left.
func (a amount) less(weight amount) amount {
	if a.whole && weight.whole {
		return amount{whole: true, n: a.n - weight.n}
	}
	return amount{f: a.float() - weight.float()}
}

// isWeight reports whether an amount may be a weight: a number from 0 on.
func (a amount) isWeight() bool {
	f := a.float()
	return f >= 0 && !math.IsInf(f, 1)
}

// String returns the number as people write it.
func (a amount) String() string {
	if a.whole {
		return strconv.FormatInt(a.n, 10)
	}
	return strconv.FormatFloat(a.f, 'g', -1, 64)
}

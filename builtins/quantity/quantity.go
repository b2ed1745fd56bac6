// Package quantity turns Kubernetes quantities into whole numbers.
package quantity

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns quantity.value, milli, mul, sum, parse and format.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "quantity.value", Args: []expr.Type{expr.Dyn}, Result: expr.Int,
			Doc:     "the whole number that a quantity (a text such as 1.5Gi, or a number) stands for, rounded up, away from 0",
			Example: `quantity.value(object.spec.size)`,
			Needs:   expr.Linear(64),
			Do:      wholeNumber,
		},
		{
			Name: "quantity.milli", Args: []expr.Type{expr.Dyn}, Result: expr.Int,
			Doc:     "a quantity in thousandths, such as 700 for 700m, exact; what is finer is rounded up, away from 0",
			Example: `quantity.milli(object.spec.cpu)`,
			Needs:   expr.Linear(128),
			Do:      milli,
		},
		{
			Name: "quantity.mul", Args: []expr.Type{expr.Dyn, expr.Dyn}, Result: expr.String,
			Doc:      "a quantity times a number, as a quantity in the form of the first, exact to nine decimals; what is finer is rounded up, away from 0",
			Example:  `quantity.mul(object.spec.cpu, 3)`,
			StandIns: []value.Value{value.OfInt(1), value.OfInt(1)},
			Needs:    expr.Linear(256),
			Do:       mul,
		},
		{
			Name: "quantity.sum", Args: []expr.Type{expr.ListOf(expr.Dyn)}, Result: expr.String,
			Doc:     "the sum of quantities as a quantity, in the form of the first",
			Example: `quantity.sum(object.spec.containers.map(c, c.resources.requests["cpu"]))`,
			Needs:   summing,
			Do:      sum,
		},
		{
			Name: "quantity.parse", Args: []expr.Type{expr.Dyn}, Result: expr.OptionalOf(expr.String),
			Doc:     "a quantity in the form in which the API server stores it, also one that quantity(x), add or sub gives; none for what is not a quantity",
			Example: `quantity.parse(object.spec.size).hasValue()`,
			Needs:   expr.Linear(128),
			Do:      canonical,
		},
		{
			Name: "quantity.format", Args: []expr.Type{expr.Dyn, expr.String}, Result: expr.String,
			Doc:      "a quantity or a number in a unit (n, u, m, k, M, G, T, P, E, Ki to Ei or none), with at most three decimals, rounded up, away from 0",
			Example:  `quantity.format(quantity.value(object.spec.size) * 2, "Gi")`,
			StandIns: []value.Value{value.OfInt(1), value.OfString("Gi")},
			Needs:    expr.Linear(128),
			Do:       format,
		},
	}
}

// suffixes are the units of quantities.
var suffixes = strings.Fields("n u m k M G T P E Ki Mi Gi Ti Pi Ei")

func format(_ *expr.Call, args []value.Value) (value.Value, error) {
	q, err := parse(args[0])
	if err != nil {
		return nil, err
	}
	unit, _ := value.Str(args[1])
	if unit != "" && !slices.Contains(suffixes, unit) {
		return nil, fmt.Errorf("%q is no unit; units are %s", value.Cut(unit, maxLength), strings.Join(suffixes, ", "))
	}
	one := resource.MustParse("1" + unit)
	whole := timesUp(new(big.Rat).Quo(exact(q), exact(one)), 1000)
	text := new(big.Rat).SetFrac(whole, big.NewInt(1000)).FloatString(3)
	return value.OfString(strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + unit), nil
}

// exact returns a quantity as a rational number.
func exact(q resource.Quantity) *big.Rat {
	out, _ := new(big.Rat).SetString(q.AsDec().String())
	return out
}

// timesUp multiplies, and rounds up, away from 0.
func timesUp(x *big.Rat, n int64) *big.Int {
	product, rest := new(big.Rat).Mul(x, big.NewRat(n, 1)), new(big.Int)
	whole, _ := new(big.Int).QuoRem(product.Num(), product.Denom(), rest)
	return whole.Add(whole, big.NewInt(int64(rest.Sign())))
}

func milli(_ *expr.Call, args []value.Value) (value.Value, error) {
	q, err := parse(args[0])
	if err != nil {
		return nil, err
	}
	n := timesUp(exact(q), 1000)
	if !n.IsInt64() {
		return nil, fmt.Errorf("%q does not fit into 64 bits as thousandths", q.String())
	}
	return value.OfInt(n.Int64()), nil
}

func mul(_ *expr.Call, args []value.Value) (value.Value, error) {
	q, err := parse(args[0])
	if err != nil {
		return nil, err
	}
	by, err := parse(args[1])
	if err != nil {
		return nil, err
	}
	product := new(big.Rat).Mul(exact(q), exact(by))
	if !timesUp(product, 1).IsInt64() { // no suffix is above E, and String leaves it out
		return nil, fmt.Errorf("%q times %q does not fit into 64 bits", q.String(), by.String())
	}
	return value.OfString(resource.NewDecimalQuantity(*inf.NewDecBig(timesUp(product, 1e9), 9), q.Format).String()), nil
}

func canonical(_ *expr.Call, args []value.Value) (value.Value, error) {
	q, err := parse(args[0])
	if err != nil {
		return value.None, nil //nolint:nilerr // what is not a quantity has none
	}
	return value.Some(value.OfString(q.String())), nil
}

// summing is the need of adding each item to the sum.
func summing(args []value.Value) expr.Need {
	l, ok := args[0].(*value.List)
	if !ok {
		return expr.Need{Work: 1, Text: maxLength}
	}
	return expr.Need{Work: 1 + expr.Units(expr.Times(l.Len(), maxLength), 10), Text: 2 * maxLength, Scratch: 1 << 10}
}

func sum(_ *expr.Call, args []value.Value) (value.Value, error) {
	l, ok := args[0].(*value.List)
	if !ok {
		return nil, fmt.Errorf("quantity.sum takes a list, not %s", args[0].Type().TypeName())
	}
	var out resource.Quantity
	for i, item := range l.Items() {
		q, err := parse(item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		out.Add(q)
	}
	return value.OfString(out.String()), nil
}

// wholeNumber is Quantity.Value() of apimachinery, except that it fails where
// that returns a wrong number: for what does not fit into 64 bits.
func wholeNumber(_ *expr.Call, args []value.Value) (value.Value, error) {
	q, err := parse(args[0])
	if err != nil {
		return nil, err
	}
	if q.CmpInt64(math.MaxInt64) > 0 || q.CmpInt64(math.MinInt64) < 0 {
		return nil, fmt.Errorf("%q does not fit into 64 bits", q.String())
	}
	return value.OfInt(q.Value()), nil
}

// maxLength bounds a quantity's text: no quantity that fits is longer, and the
// time to parse one grows faster than its length.
const maxLength = 64

func parse(v value.Value) (resource.Quantity, error) {
	if q, ok := v.Value().(*resource.Quantity); ok { // what quantity(x), add and sub give
		if value.Digits(q) > maxLength {
			return resource.Quantity{}, fmt.Errorf("the quantity is longer than the %d digits that one may have", maxLength)
		}
		return q.DeepCopy(), nil
	}
	if n, ok := value.Int(v); ok {
		return *resource.NewQuantity(n, resource.DecimalSI), nil
	}
	text, ok := value.Str(v)
	if !ok {
		var f float64
		if f, ok = v.Value().(float64); ok {
			text = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	switch {
	case !ok:
		return resource.Quantity{}, fmt.Errorf("a quantity is a text or a number, this is %s", v.Type().TypeName())
	case len(text) > maxLength:
		return resource.Quantity{}, fmt.Errorf("%q is longer than the %d bytes that a quantity may have", value.Cut(text, maxLength), maxLength)
	}
	if !value.QuantityFits(text) {
		return resource.Quantity{}, fmt.Errorf("the exponent of %q is too large to compute with", text)
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return q, fmt.Errorf("%q is not a quantity such as 100Mi, 1.5Gi or 1e3", text)
	}
	return q, nil
}

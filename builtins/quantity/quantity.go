// Package quantity turns Kubernetes quantities into whole numbers.
package quantity

import (
	"fmt"
	"math"
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns quantity.value.
func Functions() []expr.Function {
	return []expr.Function{{
		Name: "quantity.value", Args: []expr.Type{expr.Dyn}, Result: expr.Int,
		Doc:     "the whole number that a quantity (a text such as 1.5Gi, or a number) stands for, rounded up",
		Example: `quantity.value(object.spec.size)`,
		Needs:   expr.Linear(64),
		Do:      wholeNumber,
	}}
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
	if n, ok := value.Int(v); ok {
		return *resource.NewQuantity(n, resource.DecimalSI), nil
	}
	text, ok := value.Str(v)
	if f, isFloat := v.Value().(float64); isFloat {
		text, ok = new(big.Float).SetFloat64(f).Text('f', -1), true
	}
	switch {
	case !ok:
		return resource.Quantity{}, fmt.Errorf("a quantity is a text or a number, this is %s", v.Type().TypeName())
	case len(text) > maxLength:
		return resource.Quantity{}, fmt.Errorf("%q is longer than the %d bytes that a quantity may have", value.Cut(text, maxLength), maxLength)
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return q, fmt.Errorf("%q is not a quantity such as 100Mi, 1.5Gi or 1e3", text)
	}
	return q, nil
}

package selection

import (
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// levelItems evaluates the list of a level and puts its items in order.
func levelItems(l *plan.Level, scope expr.Scope, meter *expr.Meter) ([]value.Value, error) {
	list, err := levelList(l, scope, meter)
	if err != nil {
		return nil, err
	}
	return ordered(l, list.Items(), scope, meter)
}

// levelList evaluates the list of a level.
func levelList(l *plan.Level, scope expr.Scope, meter *expr.Meter) (*value.List, error) {
	v, err := l.In.Eval(scope, meter)
	if err != nil {
		return nil, err
	}
	return ListOf(l.In, "candidates need", v, meter)
}

// ListOf returns the value of an expression as a list, empty for null. The error of another
// value begins with need, such as "forEach needs".
func ListOf(of *cel.Program, need string, v value.Value, meter *expr.Meter) (*value.List, error) {
	switch list := value.Unwrap(v).(type) {
	case *value.List:
		meter.Grow(list.Len())
		return list, nil
	default:
		if value.IsNull(list) {
			return value.EmptyList, nil
		}
		return nil, &expr.Failure{At: of.Pos(), Err: fmt.Errorf("%s a list, this gives %s", need, list.Type().TypeName())}
	}
}

// MaxCandidates is how many candidates a selection may have: the product of the
// lists that they are taken from.
const MaxCandidates = 200_000

// crowded refuses more candidates than a selection may have, before they are
// made; l is the level that they end with.
func crowded(l *plan.Level, have, more int) error {
	if have+more <= MaxCandidates {
		return nil
	}
	return &expr.Failure{At: l.In.Pos(), Err: expr.Exceeded(fmt.Sprintf(
		"the selection has more than %d candidates; take them from shorter lists, or let the inner list depend on the outer item", MaxCandidates))}
}

// keyedItem is an item and where it stands.
type keyedItem struct {
	item value.Value
	keys []value.Value
}

func ordered(l *plan.Level, items []value.Value, scope expr.Scope, meter *expr.Meter) ([]value.Value, error) {
	if len(l.OrderBy) == 0 || len(items) < 2 {
		return items, nil
	}
	keyed, all := make([]keyedItem, len(items)), make([]value.Value, len(items)*len(l.OrderBy))
	inner := &row{Scope: scope, names: []string{l.As}, values: make([]value.Value, 1)}
	for i, item := range items {
		inner.values[0] = item
		keys := all[i*len(l.OrderBy) : (i+1)*len(l.OrderBy)]
		if err := orderKeys(keys, l.OrderBy, inner, meter); err != nil {
			return nil, err
		}
		keyed[i] = keyedItem{item, keys}
	}
	compare := func(a, b keyedItem) int { return value.CompareAll(a.keys, b.keys) }
	if slices.IsSortedFunc(keyed, compare) {
		return items, nil
	}
	slices.SortStableFunc(keyed, compare)
	out := make([]value.Value, len(items))
	for i, k := range keyed {
		out[i] = k.item
	}
	return out, nil
}

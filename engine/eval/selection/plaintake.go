package selection

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// take lets the best candidates win that fit.
func (r *plainRun) take() error {
	weights, err := r.weights()
	if err != nil {
		return err
	}
	order, err := r.order(r.in.Meter)
	if err != nil {
		return err
	}
	t, err := r.in.taking()
	if err != nil {
		return err
	}
	for _, i := range order {
		c := r.left[i]
		taken, by, why := t.take(weights(i))
		c.details.took(by, why)
		if taken {
			r.win(c)
		}
	}
	t.exclude(&r.outcome)
	return nil
}

// weights evaluates the weights of the candidates that are left.
func (r *plainRun) weights() (func(i int) amount, error) {
	p := r.in.Select.Take.Weight
	if p == nil {
		return func(int) amount { return one }, nil
	}
	out := make([]amount, len(r.left))
	for i, c := range r.left {
		v, err := p.Eval(r.scope(c), r.in.Meter)
		if err == nil {
			out[i], err = r.in.weight(v, func() []value.Value { return c.values })
		}
		if err != nil {
			return nil, err
		}
	}
	return func(i int) amount { return out[i] }, nil
}

// order returns the candidates that are left, the best first: the highest score,
// then the first by orderBy, then the first as they came.
func (r *plainRun) order(meter *expr.Meter) ([]int, error) {
	order, keys := make([]int, len(r.left)), make([][]value.Value, len(r.left))
	for i, c := range r.left {
		order[i], keys[i] = i, make([]value.Value, len(r.in.Select.OrderBy))
		if len(r.left) < 2 {
			continue
		}
		if err := orderKeys(keys[i], r.in.Select.OrderBy, r.scope(c), meter); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-cmp.Compare(r.left[a].score, r.left[b].score), value.CompareAll(keys[a], keys[b]))
	})
	return order, nil
}

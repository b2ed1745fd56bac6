package selection

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/value"
)

// take lets the best rows win that fit.
func (r *stagedRun) take() error {
	weights, err := r.weights()
	if err != nil {
		return err
	}
	order, err := r.order()
	if err != nil {
		return err
	}
	t, err := r.in.taking()
	if err != nil {
		return err
	}
	for _, at := range order {
		if taken, _, _ := t.take(weights(int(at))); taken {
			r.win(int(at))
		}
	}
	t.exclude(&r.outcome)
	return nil
}

// weights evaluates the weights of the rows that are left.
func (r *stagedRun) weights() (func(at int) amount, error) {
	take := r.in.Select.Take
	if take.Weight == nil {
		return func(int) amount { return one }, nil
	}
	before, cost := r.in.Meter.Spent(), uint64(0)
	known := make([]value.Value, r.table.rows)
	if take.Own {
		column := r.table.column(take.Weight, r.in.Scope)
		known, cost = column.cells.values(), column.charge(r.left)
	}
	out := make([]amount, r.table.rows)
	for at := range each(r.left) {
		v, err := known[at], error(nil)
		if v == nil { // the column cannot tell, or there is none
			v, err = r.eval(take.Weight, at)
		}
		if err == nil {
			out[at], err = r.in.weight(v, func() []value.Value { return r.table.winner(at) })
		}
		if err != nil {
			return nil, err
		}
	}
	return func(at int) amount { return out[at] }, r.spend(before, cost)
}

// order returns the rows that are left, the best first.
func (r *stagedRun) order() ([]int32, error) {
	rows := r.left.rows()
	compare, err := r.placed(rows)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		return cmp.Or(-cmp.Compare(r.scoreOf(int(a)), r.scoreOf(int(b))), compare(a, b))
	})
	return rows, nil
}

// placed returns the order of rows of equal score.
func (r *stagedRun) placed(rows []int32) (func(a, b int32) int, error) {
	if len(rows) < 2 || len(r.in.Select.OrderBy) == 0 {
		return func(_, _ int32) int { return 0 }, nil
	}
	if ranks := r.table.ranked(r.in.Scope); ranks != nil && ranks.all(r.left) {
		return func(a, b int32) int { return cmp.Compare(ranks.of[a], ranks.of[b]) }, r.in.Meter.Spend(ranks.charge(r.left))
	}
	keys := make(map[int32][]value.Value, len(rows))
	for _, at := range rows {
		own := make([]value.Value, len(r.in.Select.OrderBy))
		r.table.fill(r.at, int(at))
		if err := orderKeys(own, r.in.Select.OrderBy, r.at, r.in.Meter); err != nil {
			return nil, err
		}
		keys[at] = own
	}
	return func(a, b int32) int { return value.CompareAll(keys[a], keys[b]) }, nil
}

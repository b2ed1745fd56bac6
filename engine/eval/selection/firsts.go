package selection

import "github.com/edict-dev/edict/engine/value"

// firsts returns the first of the rows of each item.
func firsts(items []value.Value, rows []int32, s *scratch) []int32 {
	out := s.ids.take(len(rows))[:0]
	for i, at := range rows {
		if i == 0 || !sameObject(items[at], items[rows[i-1]]) {
			out = append(out, at)
		}
	}
	return out
}

// sameObject reports whether two values are one object.
func sameObject(a, b value.Value) bool {
	x, ok := a.(*value.Map)
	y, ok2 := b.(*value.Map)
	return ok && ok2 && x == y
}

// spread gives the rows of an item what the first of them has come to.
func (f *filling) spread() {
	if f.all == nil {
		return
	}
	of, firsts := f.vals, f.todo
	f.todo, f.all = f.all, nil
	spread(f.room(of), of, firsts, f.todo)
	if f.costs != nil {
		costs := make([]uint32, len(f.todo))
		spread(costs, f.costs, firsts, f.todo)
		f.costs = costs
	}
}

// spread gives each row what the last of some rows up to it has.
func spread[T any](out, of []T, firsts, rows []int32) {
	i := 0
	for n, at := range rows {
		for i+1 < len(firsts) && firsts[i+1] <= at {
			i++
		}
		out[n] = of[i]
	}
}

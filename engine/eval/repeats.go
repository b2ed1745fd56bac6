package eval

import "github.com/edict-dev/edict/engine/value"

// repeats are the last different results of items that are texts. Where only distinct values
// are wanted most items give one of a few, and share one result.
type repeats struct {
	list         [8]*entry
	next         int
	found, fresh int
}

// manyFresh is after how many items of which few gave what others had given no more is
// looked for.
const manyFresh = 64

// find returns the result of an earlier item that is the same; nil for none.
func (r *repeats) find(v value.Value, order [][]value.Value, at int) *entry {
	text, ok := value.Str(v)
	if !ok || r.fresh > manyFresh && r.found < r.fresh {
		return nil
	}
	for _, e := range r.list {
		if e != nil && isText(e.value, text) && e.stands(order, at) {
			r.found++
			return e
		}
	}
	return nil
}

// add keeps a result.
func (r *repeats) add(e *entry) {
	r.list[r.next] = e
	r.next = (r.next + 1) % len(r.list)
	r.fresh++
}

// stands reports whether an item of the columns is sorted as a result is.
func (e *entry) stands(order [][]value.Value, at int) bool {
	for i, column := range order {
		now := column[at]
		if text, ok := value.Str(now); ok && isText(e.order[i], text) || now != nil && identical(e.order[i], now) {
			continue
		}
		return false
	}
	return true
}

func isText(v value.Value, text string) bool {
	known, ok := value.Str(v)
	return ok && known == text
}

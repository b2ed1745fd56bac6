package selection

import (
	"slices"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/value"
)

// cells are the values of a column's rows. Where no row has anything but a truth they
// take two bits each.
type cells struct {
	rows int
	// vals has nil for a row without a value; it is nil where there are but truths.
	vals   []value.Value
	truths truths
}

// truths are the rows on which a column is true and false.
type truths struct{ yes, no set }

func newTruths(rows int) truths { return truths{yes: newSet(rows), no: newSet(rows)} }

// put sets a row to a value, which no other one has set before.
func (t truths) put(row int, v value.Value) {
	if holds, ok := v.(types.Bool); ok && bool(holds) {
		t.yes.put(row)
	} else if ok {
		t.no.put(row)
	}
}

// truthful reports whether there are no values but truths.
func truthful(vals []value.Value) bool {
	return !slices.ContainsFunc(vals, func(v value.Value) bool {
		_, ok := v.(types.Bool)
		return !ok && v != nil
	})
}

// cellsOf returns the cells of all rows.
func cellsOf(vals []value.Value) *cells {
	if !truthful(vals) {
		return &cells{rows: len(vals), vals: vals}
	}
	out := &cells{rows: len(vals), truths: newTruths(len(vals))}
	for row, v := range vals {
		out.truths.put(row, v)
	}
	return out
}

// at returns the value of a row, or nil.
func (c *cells) at(row int) value.Value {
	switch {
	case c.vals != nil:
		return c.vals[row]
	case c.truths.yes.has(row):
		return types.True
	case c.truths.no.has(row):
		return types.False
	}
	return nil
}

// values returns the values of all rows.
func (c *cells) values() []value.Value {
	if c.vals != nil {
		return c.vals
	}
	out := make([]value.Value, c.rows)
	for row := range out {
		out[row] = c.at(row)
	}
	return out
}

// tell finds the rows that are true and false.
func (c *cells) tell() truths {
	if c.vals == nil {
		return c.truths
	}
	out := newTruths(c.rows)
	for row, v := range c.vals {
		if v == nil {
			continue
		}
		if holds, ok := v.Value().(bool); ok && holds {
			out.yes.put(row)
		} else if ok {
			out.no.put(row)
		}
	}
	return out
}

// with returns the cells of a newer table: some rows that were computed, the others from
// these.
func (c *cells) with(fresh []value.Value, todo []int32, l *legacy) *cells {
	if c.vals != nil || !truthful(fresh) {
		vals := merged(c.values(), fresh, todo, l)
		return &cells{rows: len(vals), vals: vals}
	}
	out := c.copied(l)
	for i, at := range todo {
		out.truths.yes.drop(int(at))
		out.truths.no.drop(int(at))
		out.truths.put(int(at), fresh[i])
	}
	return out
}

// copied returns the truths of the rows of a newer table that these have.
func (c *cells) copied(l *legacy) *cells {
	if l.inPlace {
		return &cells{rows: c.rows, truths: truths{yes: slices.Clone(c.truths.yes), no: slices.Clone(c.truths.no)}}
	}
	out := &cells{rows: len(l.from), truths: newTruths(len(l.from))}
	for at, from := range l.from {
		if from >= 0 {
			out.truths.put(at, c.at(int(from)))
		}
	}
	return out
}

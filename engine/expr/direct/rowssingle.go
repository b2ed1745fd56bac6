package direct

import (
	"github.com/google/cel-go/common/types/ref"
)

// fewKnown is after how many rows without an answer none is looked for among the others.
const fewKnown = 16

// singly evaluates the expression row by row: one with a loop, or with a call that is
// charged. A row costs what Eval costs. It is nil when the first rows have no answer:
// most that ask for the time have none.
func (p *Program) singly(b *Batch) []ref.Val {
	out := b.memory().Take(b.Rows)
	defer b.at(-1)
	r, known, parts := &row{b: b}, false, p.lift(b)
	defer b.drop(parts)
	for r.at = range out {
		if r.at == fewKnown && !known {
			return nil
		}
		b.at(r.at)
		outer := b.Meter.Begin()
		out[r.at] = p.evalRow(r, b.Meter, parts)
		b.Meter.End(outer)
		known = known || out[r.at] != nil
	}
	return out
}

// row is the scope of one row.
type row struct {
	b  *Batch
	at int
}

// Parent implements interpreter.Activation.
func (r *row) Parent() Scope { return nil }

// ResolveName implements interpreter.Activation.
func (r *row) ResolveName(name string) (any, bool) {
	column, ok := r.b.column(name)
	switch {
	case !ok && r.b.Scope != nil:
		return r.b.Scope.ResolveName(name)
	case !ok || column[r.at] == nil:
		return nil, false
	}
	return column[r.at], true
}

// column returns the values of a name; false when it has no column.
func (b *Batch) column(name string) ([]ref.Val, bool) {
	if column, ok := b.Columns[name]; ok {
		return column, true
	}
	later := b.Later[name]
	if later == nil {
		return nil, false
	}
	delete(b.Later, name) // it knows the names before it only
	row := b.now
	column := later()
	b.at(row)
	if column == nil {
		column = make([]ref.Val, b.Rows)
	}
	b.Columns[name] = column
	return column, true
}

// at tells for which row entries are looked up.
func (b *Batch) at(row int) {
	if b.now = row; b.At != nil {
		b.At(row)
	}
}

// all reports whether the value of every row is the same truth.
func (v vec) all(truth ref.Val) bool {
	if v.many == nil {
		return v.one == truth
	}
	for _, v := range v.many {
		if v != truth {
			return false
		}
	}
	return len(v.many) > 0
}

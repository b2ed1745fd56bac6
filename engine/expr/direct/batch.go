package direct

import (
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
)

// Batch is many rows for which an expression is evaluated at once.
type Batch struct {
	// Rows is how many there are.
	Rows int
	// Columns are the values of a name, one for each row.
	Columns map[string][]ref.Val
	// Members are names whose values are objects with a field for each of some
	// columns: objects that need not be made to read a field.
	Members map[string]map[string][]ref.Val
	// Later computes the column of a name when it is first used.
	Later map[string]func() []ref.Val
	// Scope gives out names that are the same for all rows.
	Scope Scope
	// Meter is charged for expressions that can only be evaluated row by row; without
	// one they are not.
	Meter *expr.Meter
	// At is told for which row the entries of maps are looked up next, -1 being all.
	At func(row int)
	// Memory is where columns come from; batches one after the other may share it.
	Memory *Memory
	// now is the row that At was told last.
	now int
}

// vector is a node that can be evaluated for many rows at once.
type vector interface {
	node
	// rows returns the values; false when a part has no such form.
	rows(b *Batch) (vec, bool)
}

// vec is a value for each row: many, or one that is the same for all. A nil value is
// one for which the interpreter has to be asked.
type vec struct {
	one  ref.Val
	many []ref.Val
	// shared is set where many belongs to somebody else; otherwise the next part of
	// the expression writes over it.
	shared bool
}

// reuse returns the memory for a column that is made of others, row by row, and
// that is over after this row.
func (b *Batch) reuse(of ...vec) (out []ref.Val) {
	for _, v := range of {
		switch {
		case v.many == nil || v.shared:
		case out == nil:
			out = v.many
		default:
			b.memory().Give(v.many)
		}
	}
	if out == nil {
		out = b.memory().Take(b.Rows)
	}
	return out
}

func (b *Batch) memory() *Memory {
	if b.Memory == nil {
		b.Memory = &Memory{}
	}
	return b.Memory
}

func (v vec) at(i int) ref.Val {
	if v.many != nil {
		return v.many[i]
	}
	return v.one
}

// spread returns a column of its own.
func (v vec) spread(b *Batch) []ref.Val {
	if v.many != nil && !v.shared {
		return v.many
	}
	out := b.memory().Take(b.Rows)
	for i := range out {
		out[i] = v.at(i)
	}
	return out
}

// each makes a column of another.
func (b *Batch) each(of vec, do func(v ref.Val) ref.Val) vec {
	if of.many == nil {
		if of.one == nil {
			return vec{}
		}
		return vec{one: do(of.one)}
	}
	out := b.reuse(of)
	for i, v := range of.many {
		if v != nil {
			v = do(v)
		}
		out[i] = v
	}
	return vec{many: out}
}

// pairs makes a column of two others.
func (b *Batch) pairs(x, y vec, do func(x, y ref.Val) ref.Val) vec {
	if x.many == nil && y.many == nil {
		if x.one == nil || y.one == nil {
			return vec{}
		}
		return vec{one: do(x.one, y.one)}
	}
	out := b.reuse(x, y)
	defer b.at(-1)
	for i := range out {
		v, w := x.at(i), y.at(i)
		if v != nil && w != nil {
			b.at(i)
			out[i] = do(v, w)
		} else {
			out[i] = nil
		}
	}
	return vec{many: out}
}

package direct

import "github.com/google/cel-go/common/types/ref"

// lifted is a part of a loop that is the same in each round. An expression that is
// evaluated row by row has such parts computed for all rows at once.
type lifted struct {
	of node
	// at is its place among those of the program.
	at int
}

func (n lifted) eval(f *Frame) ref.Val {
	if f.lifted != nil {
		if v := f.lifted[n.at].at(f.row); v != nil {
			return v
		}
	}
	return n.of.eval(f)
}

func (n lifted) rows(b *Batch) (vec, bool) { return rowsOf(n.of, b) }

// liftAll marks what of the arguments of a call in a loop can be lifted out of it.
func (c *compiler) liftAll(args []node) {
	if len(c.bound) == 0 {
		return
	}
	for i := range args {
		args[i] = c.lift(args[i])
	}
}

// lift marks a part of a loop that can be lifted out of it.
func (c *compiler) lift(n node) node {
	if _, alone := n.(name); alone || !fields(n, anyName, anyName) {
		return n
	}
	c.lifted = append(c.lifted, n)
	return lifted{n, len(c.lifted) - 1}
}

func anyName(name) bool { return true }

// fields reports whether a node reads fields of some names, and entries of maps that are
// others, and nothing else: that costs nothing.
func fields(n node, of, in func(name) bool) bool {
	switch n := n.(type) {
	case name:
		return of(n)
	case field:
		return fields(n.of, of, in)
	case optionalField:
		return fields(n.inner, of, in)
	case orValue:
		_, known := n.other.(constant)
		return known && fields(n.of, of, in)
	case optionalItem:
		if m, alone := n.of.(name); alone {
			return in(m) && fields(n.at, of, in)
		}
	}
	return false
}

// lift computes the parts of loops that read fields of the rows, where the column of
// these is there already. A name that no row may need is not resolved: what it stands
// for may cost something.
func (p *Program) lift(b *Batch) []vec {
	if len(p.lifted) == 0 {
		return nil
	}
	there := func(n name) bool { return b.Columns[n.name] != nil }
	out := make([]vec, len(p.lifted))
	for i, n := range p.lifted {
		if fields(n, there, there) || p.always(i) && fields(n, there, anyName) {
			out[i], _ = rowsOf(n, b)
		}
	}
	return out
}

// always reports whether every row needs a part: the list of a loop that is all of the
// expression.
func (p *Program) always(part int) bool {
	all, ok := p.root.(gather)
	over, is := all.over.(lifted)
	return ok && is && over.at == part
}

// drop gives back the columns of what was lifted.
func (b *Batch) drop(columns []vec) {
	for _, v := range columns {
		if v.many != nil && !v.shared {
			b.memory().Give(v.many)
		}
	}
}

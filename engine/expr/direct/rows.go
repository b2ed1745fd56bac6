package direct

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/value"
)

// Rows evaluates the expression for every row: each part of it for all rows before
// the next part, or where a part has no such form, the whole of it row by row. The
// result has nil for a row for which the interpreter has to be asked; it is nil when
// the expression cannot be evaluated for rows.
//
// Parts are evaluated also for rows that do not need them: what is evaluated must not
// have effects, and names must have values that cost nothing.
func (p *Program) Rows(b *Batch) (out []ref.Val) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	if b.Meter != nil && p.single.Load() {
		return p.singly(b)
	}
	if v, ok := rowsOf(p.root, b); ok {
		return v.spread(b)
	}
	if b.Meter == nil {
		return nil
	}
	p.single.Store(true)
	return p.singly(b)
}

// rowsOf evaluates a node for all rows.
func rowsOf(n node, b *Batch) (vec, bool) {
	if v, ok := n.(vector); ok {
		return v.rows(b)
	}
	return vec{}, false
}

func (n constant) rows(*Batch) (vec, bool) { return vec{one: n.value}, true }

func (n name) rows(b *Batch) (vec, bool) {
	if column, ok := b.column(n.name); ok {
		return vec{many: column, shared: true}, true
	}
	if _, members := b.Members[n.name]; members || b.Scope == nil {
		return vec{}, false
	}
	v, ok := b.Scope.ResolveName(n.name)
	if !ok {
		return vec{}, false
	}
	return vec{one: good(v)}, true
}

func (n field) rows(b *Batch) (vec, bool) {
	if of, ok := n.of.(name); ok {
		if column, ok := b.Members[of.name][n.key]; ok {
			return vec{many: column, shared: true}, true
		}
	}
	of, ok := rowsOf(n.of, b)
	if !ok {
		return vec{}, false
	}
	read := value.AccessorOf(n.key)
	return b.each(of, func(v ref.Val) ref.Val {
		switch v := v.(type) {
		case *value.Map:
			return read.Of(v)
		case *types.Optional:
			return boxed(n.within(v))
		}
		_, found := find(v, n.key, n.boxed)
		return found
	}), true
}

func (n logic) rows(b *Batch) (vec, bool) {
	out, ok := rowsOf(n.terms[0], b)
	if !ok {
		return vec{}, false
	}
	out = b.each(out, truth)
	for _, t := range n.terms[1:] {
		if out.all(n.decides) {
			break
		}
		next, ok := rowsOf(t, b)
		if !ok {
			return vec{}, false
		}
		out = b.join(out, next, n.decides)
	}
	return out, true
}

// join is logic for two columns.
func (b *Batch) join(first, second vec, decides types.Bool) vec {
	one := func(v, w ref.Val) ref.Val {
		if v == nil || v == ref.Val(decides) {
			return v
		}
		return truth(w)
	}
	if first.many == nil && second.many == nil {
		return vec{one: one(first.one, second.one)}
	}
	out := b.reuse(first, second)
	for i := range out {
		out[i] = one(first.at(i), second.at(i))
	}
	return vec{many: out}
}

func (n choice) rows(b *Batch) (vec, bool) {
	when, ok := rowsOf(n.when, b)
	if holds, one := when.one.(types.Bool); ok && one {
		if holds {
			return rowsOf(n.then, b)
		}
		return rowsOf(n.otherwise, b)
	}
	then, ok1 := rowsOf(n.then, b)
	otherwise, ok2 := rowsOf(n.otherwise, b)
	if !ok || !ok1 || !ok2 {
		return vec{}, false
	}
	out := b.reuse(when, then, otherwise)
	for i := range out {
		switch holds, ok := when.at(i).(types.Bool); {
		case ok && bool(holds):
			out[i] = then.at(i)
		case ok:
			out[i] = otherwise.at(i)
		default:
			out[i] = nil
		}
	}
	return vec{many: out}, true
}

func (n unary) rows(b *Batch) (vec, bool) {
	of, ok := rowsOf(n.of, b)
	return b.each(of, n.do), ok
}

func (n binary) rows(b *Batch) (vec, bool) {
	x, ok := rowsOf(n.a, b)
	y, ok2 := rowsOf(n.b, b)
	if !ok || !ok2 {
		return vec{}, false
	}
	return b.pairs(x, y, n.do), true
}

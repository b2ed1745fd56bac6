package direct

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/value"
)

// missing stands in a column of contents for an optional without one.
type missing struct{ types.Null }

var none ref.Val = missing{}

// contents is a node whose values are optionals, for many rows: a column has what is
// in them, or none.
type contents interface {
	contents(b *Batch) (vec, bool)
}

// contentsOf finds what is in the values of a node that are optionals; others are kept if
// they may be bare, and not known otherwise.
func contentsOf(n node, b *Batch, bare bool) (vec, bool) {
	if m, ok := n.(contents); ok {
		return m.contents(b)
	}
	of, ok := rowsOf(n, b)
	return b.each(of, func(v ref.Val) ref.Val {
		switch o, optional := v.(*types.Optional); {
		case optional && o.HasValue():
			return o.GetValue()
		case optional:
			return none
		case bare:
			return v
		}
		return nil
	}), ok
}

// optionals makes a column of optionals of their contents, many in one piece of memory.
func optionals(b *Batch, of vec, ok bool) (vec, bool) {
	var boxes []types.Optional
	return b.each(of, func(v ref.Val) ref.Val {
		switch {
		case v == none:
			return types.OptionalNone
		case of.many == nil:
			return types.OptionalOf(v)
		case len(boxes) == 0:
			boxes = make([]types.Optional, b.Rows)
		}
		box := &boxes[0]
		*box, boxes = *types.OptionalOf(v), boxes[1:]
		return box
	}), ok
}

func (n optionalField) contents(b *Batch) (vec, bool) {
	of, ok := contentsOf(n.inner, b, true)
	read := value.AccessorOf(n.key)
	return b.each(of, func(v ref.Val) ref.Val {
		if v == none {
			return none
		}
		if m, ok := v.(*value.Map); ok {
			if found := read.Of(m); found != nil {
				return found
			}
			return none
		}
		return stateValue(find(v, n.key, n.boxed))
	}), ok
}

func stateValue(s state, v ref.Val) ref.Val {
	switch s {
	case present:
		return v
	case absent:
		return none
	}
	return nil
}

func (n optionalField) rows(b *Batch) (vec, bool) {
	of, ok := n.contents(b)
	return optionals(b, of, ok)
}

func (n optionalItem) contents(b *Batch) (vec, bool) {
	of, ok := contentsOf(n.of, b, true)
	at, ok2 := rowsOf(n.at, b)
	if !ok || !ok2 {
		return vec{}, false
	}
	return b.pairs(of, at, func(of, at ref.Val) ref.Val {
		if of == none {
			return none
		}
		return stateValue(entry(of, at))
	}), true
}

func (n optionalItem) rows(b *Batch) (vec, bool) {
	of, ok := n.contents(b)
	return optionals(b, of, ok)
}

func (n orValue) rows(b *Batch) (vec, bool) {
	of, ok := contentsOf(n.of, b, false)
	other, ok2 := rowsOf(n.other, b)
	if !ok || !ok2 {
		return vec{}, false
	}
	out := b.reuse(of)
	for i := range out {
		if out[i] = of.at(i); out[i] == none {
			out[i] = other.at(i)
		}
	}
	return vec{many: out}, true
}

func (n hasValue) rows(b *Batch) (vec, bool) {
	of, ok := contentsOf(n.of, b, false)
	return b.each(of, func(v ref.Val) ref.Val { return types.Bool(v != none) }), ok
}

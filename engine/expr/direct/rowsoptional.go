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

// contentsOf finds what is in the values of a node that may be optionals.
func contentsOf(n node, b *Batch) (vec, bool) {
	if m, ok := n.(contents); ok {
		return m.contents(b)
	}
	of, ok := rowsOf(n, b)
	return b.each(of, func(v ref.Val) ref.Val {
		o, optional := v.(*types.Optional)
		switch {
		case !optional:
			return v
		case !o.HasValue():
			return none
		}
		return o.GetValue()
	}), ok
}

// insides is contentsOf where only optionals are right.
func insides(n node, b *Batch) (vec, bool) {
	if m, ok := n.(contents); ok {
		return m.contents(b)
	}
	if _, ok := n.(maybe); ok {
		return vec{}, false
	}
	of, ok := rowsOf(n, b)
	return b.each(of, func(v ref.Val) ref.Val {
		switch o, optional := v.(*types.Optional); {
		case !optional:
			return nil
		case !o.HasValue():
			return none
		default:
			return o.GetValue()
		}
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
	of, ok := contentsOf(n.inner, b)
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
	of, ok := contentsOf(n.of, b)
	at, ok2 := rowsOf(n.at, b)
	if !ok || !ok2 {
		return vec{}, false
	}
	out := b.reuse(of, at)
	defer b.at(-1)
	for i := range out {
		switch v := of.at(i); v {
		case nil:
			out[i] = nil
		case none:
			out[i] = none
		default:
			b.at(i)
			out[i] = stateValue(entry(v, at.at(i)))
		}
	}
	return vec{many: out}, true
}

func (n optionalItem) rows(b *Batch) (vec, bool) {
	of, ok := n.contents(b)
	return optionals(b, of, ok)
}

func (n orValue) rows(b *Batch) (vec, bool) {
	of, ok := insides(n.of, b)
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
	of, ok := insides(n.of, b)
	return b.each(of, func(v ref.Val) ref.Val { return types.Bool(v != none) }), ok
}

func (n item) rows(b *Batch) (vec, bool) {
	of, ok := rowsOf(n.of, b)
	at, ok2 := rowsOf(n.at, b)
	if !ok || !ok2 {
		return vec{}, false
	}
	return b.pairs(of, at, func(of, at ref.Val) ref.Val {
		if _, optional := of.(*types.Optional); optional {
			return nil
		}
		_, found := entry(of, at)
		return found
	}), true
}

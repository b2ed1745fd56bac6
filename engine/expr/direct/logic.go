package direct

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// every is a && b. It looks at the second only where the first is true; that a false
// decides over an error is for the interpreter to say.
type every struct{ terms []node }

func (n every) eval(f *Frame) ref.Val {
	for _, t := range n.terms {
		switch v, ok := t.eval(f).(types.Bool); {
		case !ok:
			return nil
		case !bool(v):
			return types.False
		}
	}
	return types.True
}

// some is a || b.
type some struct{ terms []node }

func (n some) eval(f *Frame) ref.Val {
	for _, t := range n.terms {
		switch v, ok := t.eval(f).(types.Bool); {
		case !ok:
			return nil
		case bool(v):
			return types.True
		}
	}
	return types.False
}

// not is !a.
type not struct{ of node }

func (n not) eval(f *Frame) ref.Val {
	if v, ok := n.of.eval(f).(types.Bool); ok {
		return !v
	}
	return nil
}

// choice is a ? b : c.
type choice struct{ when, then, otherwise node }

func (n choice) eval(f *Frame) ref.Val {
	switch v, ok := n.when.eval(f).(types.Bool); {
	case !ok:
		return nil
	case bool(v):
		return n.then.eval(f)
	}
	return n.otherwise.eval(f)
}

// equal is a == b.
type equal struct{ a, b node }

func (n equal) eval(f *Frame) ref.Val { return same(n.a, n.b, f) }

// unequal is a != b: CEL calls everything unequal that is not equal, also what
// cannot be compared.
type unequal struct{ a, b node }

func (n unequal) eval(f *Frame) ref.Val {
	if v := same(n.a, n.b, f); v != nil {
		return types.Bool(v != types.True)
	}
	return nil
}

// same compares as CEL does; nil when that gives neither true nor false.
func same(a, b node, f *Frame) ref.Val {
	x := a.eval(f)
	if x == nil {
		return nil
	}
	y := b.eval(f)
	if y == nil {
		return nil
	}
	return compare(x, y)
}

// longText is from which length on comparing two texts is charged, which is for the
// interpreter to do; a key that is so long is looked up by it as well.
const longText = 1000*freeWork + 1

// compare reports whether two values are equal; nil when that is neither true nor
// false, and when it is charged.
func compare(x, y ref.Val) ref.Val {
	if s, ok := x.(types.String); ok {
		if t, ok := y.(types.String); ok {
			if len(s) == len(t) && len(s) >= longText {
				return nil
			}
			return types.Bool(s == t)
		}
	}
	if b, ok := x.(types.Bytes); ok && len(b) >= longText {
		return nil
	}
	v, ok := types.Equal(x, y).(types.Bool)
	if !ok {
		return nil
	}
	return v
}

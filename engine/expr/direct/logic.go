package direct

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// logic is a && b, or a || b: one value decides, and what follows it is not looked at. That
// it decides over an error is for the interpreter to say.
type logic struct {
	terms   []node
	decides types.Bool
}

func (n logic) eval(f *Frame) ref.Val {
	for _, t := range n.terms {
		switch v, ok := t.eval(f).(types.Bool); {
		case !ok:
			return nil
		case v == n.decides:
			return v
		}
	}
	return !n.decides
}

// negate is !v.
func negate(v ref.Val) ref.Val {
	if v, ok := v.(types.Bool); ok {
		return !v
	}
	return nil
}

// truth returns a truth, and nil for anything else.
func truth(v ref.Val) ref.Val {
	if v, ok := v.(types.Bool); ok {
		return v
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

// longText is from which length on comparing two texts is charged, which is for the
// interpreter to do; a key that is so long is looked up by it as well.
const longText = 1000*freeWork + 1

// compare is x == y: it reports whether two values are equal; nil when that is neither true nor
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
	return truth(types.Equal(x, y))
}

// differ is a != b: CEL calls everything unequal that is not equal, also what cannot be
// compared.
func differ(x, y ref.Val) ref.Val {
	if v := compare(x, y); v != nil {
		return types.Bool(v != types.True)
	}
	return nil
}

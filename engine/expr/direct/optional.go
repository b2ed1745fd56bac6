package direct

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// state says what is known of a value that may be absent.
type state int8

const (
	// unknown is that the interpreter has to be asked.
	unknown state = iota
	absent
	present
)

// maybe is a node whose value is an optional. What only asks for its content needs
// no optional to be made.
type maybe interface {
	node
	find(f *Frame) (state, ref.Val)
}

// boxed returns an optional.
func boxed(s state, v ref.Val) ref.Val {
	switch s {
	case present:
		return types.OptionalOf(v)
	case absent:
		return types.OptionalNone
	}
	return nil
}

// content finds the content of a node that may be an optional; bare is what is known of
// any other value.
func content(n node, f *Frame, bare state) (state, ref.Val) {
	if m, ok := n.(maybe); ok {
		return m.find(f)
	}
	v := n.eval(f)
	switch o, optional := v.(*types.Optional); {
	case v == nil:
		return unknown, nil
	case !optional:
		return bare, v
	case !o.HasValue():
		return absent, nil
	default:
		return present, o.GetValue()
	}
}

// optionalField is x.?name, and x.name where x is an optional.
type optionalField struct {
	inner node
	key   string
	boxed ref.Val
}

func (n optionalField) find(f *Frame) (state, ref.Val) {
	s, of := content(n.inner, f, present)
	if s != present {
		return s, nil
	}
	return find(of, n.key, n.boxed)
}

func (n optionalField) eval(f *Frame) ref.Val { return boxed(n.find(f)) }

// optionalIndex returns the node of x[?y] and x.?y.
func optionalIndex(of, at node) node {
	if key, ok := text(at); ok {
		return optionalField{inner: of, key: key, boxed: types.String(key)}
	}
	return optionalItem{of, at}
}

// optionalItem is x[?y].
type optionalItem struct{ of, at node }

func (n optionalItem) find(f *Frame) (state, ref.Val) {
	s, of := content(n.of, f, present)
	if s != present {
		return s, nil
	}
	return entry(of, n.at.eval(f))
}

func (n optionalItem) eval(f *Frame) ref.Val { return boxed(n.find(f)) }

// or is x.or(y), of two optionals.
type or struct{ of, other node }

func (n or) find(f *Frame) (state, ref.Val) {
	s, v := content(n.of, f, unknown)
	if s == absent {
		return content(n.other, f, unknown)
	}
	return s, v
}

func (n or) eval(f *Frame) ref.Val { return boxed(n.find(f)) }

// orValue is x.orValue(y).
type orValue struct{ of, other node }

func (n orValue) eval(f *Frame) ref.Val {
	switch s, v := content(n.of, f, unknown); s {
	case present:
		return v
	case absent:
		return n.other.eval(f)
	}
	return nil
}

// hasValue is x.hasValue().
type hasValue struct{ of maybe }

func (n hasValue) eval(f *Frame) ref.Val {
	s, _ := n.of.find(f)
	return known(s)
}

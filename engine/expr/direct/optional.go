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
	find(scope Scope) (state, ref.Val)
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

// content finds the content of a node that may be an optional.
func content(n node, scope Scope) (state, ref.Val) {
	if m, ok := n.(maybe); ok {
		return m.find(scope)
	}
	v := n.eval(scope)
	switch o := v.(type) {
	case nil:
		return unknown, nil
	case *types.Optional:
		if !o.HasValue() {
			return absent, nil
		}
		return present, o.GetValue()
	}
	return present, v
}

// optionalField is x.?name, and x.name where x is an optional.
type optionalField struct {
	inner node
	key   string
	boxed types.String
}

func (n optionalField) find(scope Scope) (state, ref.Val) {
	s, of := content(n.inner, scope)
	if s != present {
		return s, nil
	}
	return find(of, n.key, n.boxed)
}

func (n optionalField) eval(scope Scope) ref.Val { return boxed(n.find(scope)) }

// optionalIndex returns the node of x[?y] and x.?y.
func optionalIndex(of, at node) node {
	if key, ok := text(at); ok {
		return optionalField{inner: of, key: key, boxed: types.String(key)}
	}
	return optionalItem{of, at}
}

// optionalItem is x[?y].
type optionalItem struct{ of, at node }

func (n optionalItem) find(scope Scope) (state, ref.Val) {
	s, of := content(n.of, scope)
	if s != present {
		return s, nil
	}
	return entry(of, n.at.eval(scope))
}

func (n optionalItem) eval(scope Scope) ref.Val { return boxed(n.find(scope)) }

// orValue is x.orValue(y).
type orValue struct {
	of    maybe
	other node
}

func (n orValue) eval(scope Scope) ref.Val {
	switch s, v := n.of.find(scope); s {
	case present:
		return v
	case absent:
		return n.other.eval(scope)
	}
	return nil
}

// hasValue is x.hasValue().
type hasValue struct{ of maybe }

func (n hasValue) eval(scope Scope) ref.Val {
	switch s, _ := n.of.find(scope); s {
	case present:
		return types.True
	case absent:
		return types.False
	}
	return nil
}

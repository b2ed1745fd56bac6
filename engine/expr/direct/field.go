package direct

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/value"
)

// field is x.name.
type field struct {
	of    node
	key   string
	boxed ref.Val
}

func (n field) eval(f *Frame) ref.Val {
	switch v := n.of.eval(f).(type) {
	case *value.Map:
		return v.Lookup(n.key)
	case nil:
		return nil
	case *types.Optional:
		if state, v := n.within(v); state == present {
			return types.OptionalOf(v)
		} else if state == absent {
			return types.OptionalNone
		}
		return nil
	default:
		_, found := find(v, n.key, n.boxed)
		return found
	}
}

// within reads the field of an optional, which is optional itself.
func (n field) within(o *types.Optional) (state, ref.Val) {
	if !o.HasValue() {
		return absent, nil
	}
	return find(o.GetValue(), n.key, n.boxed)
}

// find reads a field that may be absent.
func find(v ref.Val, key string, boxed ref.Val) (state, ref.Val) {
	switch v := v.(type) {
	case *value.Map:
		if found := v.Lookup(key); found != nil {
			return present, found
		}
		return absent, nil
	case traits.Mapper:
		found, ok := v.Find(boxed)
		if !ok {
			return absent, nil
		}
		if found = good(found); found != nil {
			return present, found
		}
	}
	return unknown, nil
}

// has returns the node of has(x.name).
func has(of node, key string) node {
	var boxed ref.Val = types.String(key)
	return unary{of, func(v ref.Val) ref.Val {
		state, _ := find(v, key, boxed)
		return known(state)
	}}
}

// known returns whether a value is present; nil where that is not known.
func known(s state) ref.Val {
	switch s {
	case present:
		return types.True
	case absent:
		return types.False
	}
	return nil
}

// index returns the node of x[y].
func index(of, at node) node {
	if _, ok := of.(maybe); ok {
		return nil
	}
	if key, ok := text(at); ok {
		return field{of: of, key: key, boxed: types.String(key)}
	}
	return binary{of, at, item}
}

// text returns the text of a constant.
func text(n node) (string, bool) {
	c, ok := n.(constant)
	if !ok {
		return "", false
	}
	s, ok := c.value.(types.String)
	return string(s), ok
}

// item is x[y].
func item(of, at ref.Val) ref.Val {
	if _, optional := of.(*types.Optional); optional {
		return nil
	}
	_, found := entry(of, at)
	return found
}

// entry reads an entry of a map, or an item of a list, that may be absent.
func entry(of, at ref.Val) (state, ref.Val) {
	switch key := at.(type) {
	case types.String:
		if len(key) >= longText {
			return unknown, nil
		}
		return find(of, string(key), at)
	case types.Int:
		list, ok := of.(*value.List)
		switch {
		case !ok:
			return unknown, nil
		case key < 0 || int(key) >= list.Len():
			return absent, nil
		}
		return present, list.At(int(key))
	}
	return unknown, nil
}

package value

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Limits of one result. An expression can name the same list many times in a
// short text, so what it produced is walked with a budget, never converted or
// printed raw.
const (
	MaxResultNodes = 100_000
	MaxResultBytes = 1 << 20
)

// ErrResultTooLarge says that a result has more nodes or bytes than allowed.
var ErrResultTooLarge = errors.New("the result is larger than allowed")

// Settle makes an immutable value of what an expression returned. Values that
// came from the read model pass as they are; lists and maps that the
// expression built are walked within the limits.
func Settle(v ref.Val) (Value, error) {
	out, _, err := SettleCounting(v)
	return out, err
}

// SettleCounting is Settle; it also returns the number of nodes that it visited.
func SettleCounting(v ref.Val) (out Value, walked int, err error) {
	switch x := v.(type) {
	case *Map, *List, types.Bool, types.Int, types.Null, types.Timestamp, types.Duration, types.Double, types.Uint:
		return v, 0, nil
	case types.String:
		if len(x) > MaxResultBytes {
			return nil, 0, ErrResultTooLarge
		}
		return v, 0, nil
	}
	s := settler{nodes: MaxResultNodes, bytes: MaxResultBytes}
	out, err = s.settle(v)
	return out, MaxResultNodes - s.nodes, err
}

type settler struct{ nodes, bytes int }

func (s *settler) settle(v ref.Val) (Value, error) {
	if s.nodes--; s.nodes < 0 {
		return nil, ErrResultTooLarge
	}
	switch x := v.(type) {
	case nil:
		return types.NullValue, nil
	case *Map, *List:
		return v, nil
	case types.String:
		return v, s.spend(len(x))
	case types.Bytes:
		return v, s.spend(len(x))
	case *types.Optional:
		return s.optional(x)
	case *types.Err:
		return nil, x
	case traits.Mapper:
		return s.mapper(x)
	case traits.Lister:
		return s.lister(x)
	case types.Bool, types.Int, types.Uint, types.Double, types.Null, types.Timestamp, types.Duration:
		return v, nil
	default:
		return v, s.spend(64) // a library's own value, such as a quantity
	}
}

func (s *settler) spend(n int) error {
	if s.bytes -= n; s.bytes < 0 {
		return ErrResultTooLarge
	}
	return nil
}

func (s *settler) optional(o *types.Optional) (Value, error) {
	if !o.HasValue() {
		return o, nil
	}
	v, err := s.settle(o.GetValue())
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case *Map, *List, types.String:
		if v == o.GetValue() {
			return o, nil
		}
	}
	return types.OptionalOf(v), nil
}

func (s *settler) lister(l traits.Lister) (Value, error) {
	size, ok := l.Size().(types.Int)
	if !ok || int(size) > s.nodes {
		return nil, ErrResultTooLarge
	}
	items := make([]Value, 0, int(size))
	for it := l.Iterator(); it.HasNext() == types.True; {
		v, err := s.settle(it.Next())
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return NewList(items), nil
}

func (s *settler) mapper(m traits.Mapper) (Value, error) {
	if frozen, ok := m.Value().(*Map); ok {
		return frozen, nil
	}
	out := map[string]Value{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		k := it.Next()
		key, ok := k.(types.String)
		if !ok {
			return nil, fmt.Errorf("a map's keys must be strings, not %s", k.Type().TypeName())
		}
		v, err := s.settle(m.Get(k))
		if err != nil {
			return nil, err
		}
		if err := s.spend(len(key)); err != nil {
			return nil, err
		}
		out[string(key)] = v
	}
	return FromMap(out), nil
}

package rego

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/value"
)

// Limits of one input, written out: a part that stands in it twice counts
// twice.
const (
	MaxInputNodes = value.MaxResultNodes
	MaxInputBytes = 4 << 20
)

// ErrInputTooLarge says that an input has more nodes or bytes than allowed.
var ErrInputTooLarge = errors.New("the input is larger than allowed")

// toTerm gives a value as Rego sees it, and how many nodes it has. Fields and
// items without a value are left out; times and durations are texts.
func toTerm(v value.Value) (*ast.Term, int, error) {
	c := converter{nodes: MaxInputNodes, bytes: MaxInputBytes}
	v = value.Unwrap(v)
	if v == nil {
		v = value.Null
	}
	t, err := c.term(v)
	return t, MaxInputNodes - c.nodes, err
}

type converter struct{ nodes, bytes int }

// term converts a value that is there.
func (c *converter) term(v value.Value) (*ast.Term, error) {
	if c.nodes--; c.nodes < 0 {
		return nil, ErrInputTooLarge
	}
	switch v := v.(type) {
	case *value.Map:
		return c.object(v)
	case *value.List:
		return c.array(v)
	case types.String:
		return c.text(string(v))
	case types.Null:
		return ast.InternedNullTerm, nil
	case types.Bool:
		return ast.InternedTerm(bool(v)), nil
	case types.Int:
		return ast.InternedTerm(int64(v)), nil
	case types.Uint:
		return ast.NewTerm(ast.Number(strconv.FormatUint(uint64(v), 10))), nil
	case types.Double:
		return double(float64(v))
	case types.Timestamp:
		return c.text(v.UTC().Format(time.RFC3339Nano))
	case types.Duration:
		return c.text(v.Duration.String())
	case *types.Err: // of a variable that failed
		return nil, v
	}
	if m, ok := v.Value().(*value.Map); ok { // a map that somebody looks over
		return c.object(m)
	}
	if s, ok := value.Plain(v).(string); ok {
		return c.text(s)
	}
	return nil, fmt.Errorf("a value of type %s cannot be given to Rego", v.Type().TypeName())
}

func (c *converter) text(s string) (*ast.Term, error) {
	if c.bytes -= len(s); c.bytes < 0 {
		return nil, ErrInputTooLarge
	}
	return ast.InternedTerm(s), nil
}

func double(f float64) (*ast.Term, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("a number that is not finite cannot be given to Rego")
	}
	return ast.FloatNumberTerm(f), nil
}

func (c *converter) array(l *value.List) (*ast.Term, error) {
	items := make([]*ast.Term, 0, min(l.Len(), max(0, c.nodes)))
	for _, item := range l.Items() {
		if item = value.Unwrap(item); item == nil {
			continue
		}
		t, err := c.term(item)
		if err != nil {
			return nil, err
		}
		items = append(items, t)
	}
	return ast.ArrayTerm(items...), nil
}

func (c *converter) object(m *value.Map) (*ast.Term, error) {
	fields := make([][2]*ast.Term, 0, min(m.Len(), max(0, c.nodes)))
	for i := range m.Len() {
		name, v := m.At(i)
		if v = value.Unwrap(v); v == nil {
			continue
		}
		key, err := c.text(name)
		if err != nil {
			return nil, err
		}
		t, err := c.term(v)
		if err != nil {
			return nil, err
		}
		fields = append(fields, [2]*ast.Term{key, t})
	}
	return ast.ObjectTerm(fields...), nil
}

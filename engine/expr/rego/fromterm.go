package rego

import (
	"errors"
	"fmt"
	"math"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/value"
)

// fromTerm makes an immutable value of a result, within the limits of one
// result. Sets become sorted lists. A part that the result holds many times
// counts as many times; that is known before anything is copied.
func fromTerm(t *ast.Term) (value.Value, error) {
	if new(scale).weigh(t) > MaxNodes {
		return nil, value.ErrResultTooLarge
	}
	r := reader{nodes: value.MaxResultNodes, bytes: value.MaxResultBytes}
	return r.value(t)
}

type reader struct{ nodes, bytes int }

func (r *reader) value(t *ast.Term) (value.Value, error) {
	if r.nodes--; r.nodes < 0 {
		return nil, value.ErrResultTooLarge
	}
	switch v := t.Value.(type) {
	case ast.Null:
		return value.Null, nil
	case ast.Boolean:
		return value.OfBool(bool(v)), nil
	case ast.Number:
		return number(v)
	case ast.String:
		return value.OfString(string(v)), r.spend(len(v))
	case *ast.Array:
		return r.list(v)
	case ast.Set:
		return r.list(v.Sorted())
	case ast.Object:
		return r.object(v)
	}
	return nil, fmt.Errorf("the result is %s, which is no value", ast.ValueName(t.Value))
}

func (r *reader) spend(n int) error {
	if r.bytes -= n; r.bytes < 0 {
		return value.ErrResultTooLarge
	}
	return nil
}

func (r *reader) list(a *ast.Array) (value.Value, error) {
	items := make([]value.Value, a.Len())
	for i := range items {
		v, err := r.value(a.Elem(i))
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return value.NewList(items), nil
}

func (r *reader) object(o ast.Object) (value.Value, error) {
	fields := make(map[string]value.Value, o.Len())
	err := o.Iter(func(k, v *ast.Term) error {
		name, ok := k.Value.(ast.String)
		if !ok {
			return fmt.Errorf("the keys of an object must be strings, not %s", ast.ValueName(k.Value))
		}
		field, err := r.value(v)
		fields[string(name)] = field
		if err != nil {
			return err
		}
		return r.spend(len(name))
	})
	if err != nil {
		return nil, err
	}
	return value.FromMap(fields), nil
}

// number gives a whole number as an integer, any other as a double.
func number(n ast.Number) (value.Value, error) {
	if i, ok := n.Int64(); ok {
		return value.OfInt(i), nil
	}
	f, ok := n.Float64()
	if !ok || math.IsInf(f, 0) {
		return nil, errors.New("a number of the result is too large")
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return value.OfInt(int64(f)), nil
	}
	return value.OfDouble(f), nil
}

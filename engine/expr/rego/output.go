package rego

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/value"
)

// appendResult writes a result, within the limits of one. Sets become sorted
// lists. A part that the result holds many times counts as many times.
func appendResult(b []byte, t *ast.Term) ([]byte, error) {
	w := resultWriter{out: b, nodes: value.MaxResultNodes, bytes: value.MaxResultBytes}
	err := w.value(t)
	return w.out, err
}

type resultWriter struct {
	out          []byte
	nodes, bytes int
}

func (w *resultWriter) value(t *ast.Term) error {
	if w.nodes--; w.nodes < 0 {
		return value.ErrResultTooLarge
	}
	switch v := t.Value.(type) {
	case ast.Null:
		w.out = append(w.out, tagNull)
		return nil
	case ast.Boolean:
		w.out = append(w.out, tagOf(bool(v)))
		return nil
	case ast.Number:
		return w.number(v)
	case ast.String:
		return w.text(string(v))
	case *ast.Array:
		return w.list(v)
	case ast.Set:
		return w.list(v.Sorted())
	case ast.Object:
		return w.object(v)
	}
	return fmt.Errorf("the result is %s, which is no value", ast.ValueName(t.Value))
}

func (w *resultWriter) text(s string) error {
	if w.bytes -= len(s); w.bytes < 0 {
		return value.ErrResultTooLarge
	}
	w.out = appendText(w.out, tagText, s)
	return nil
}

// number writes a whole number as an integer, any other as a double.
func (w *resultWriter) number(n ast.Number) error {
	if i, ok := n.Int64(); ok {
		w.out = appendInt(w.out, i)
		return nil
	}
	f, ok := n.Float64()
	switch {
	case !ok || math.IsInf(f, 0):
		return errors.New("a number of the result is too large")
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		w.out = appendInt(w.out, int64(f))
	default:
		w.out = appendText(w.out, tagNumber, strconv.FormatFloat(f, 'g', -1, 64))
	}
	return nil
}

func (w *resultWriter) list(a *ast.Array) error {
	w.out = append(w.out, tagList)
	for i := range a.Len() {
		if err := w.value(a.Elem(i)); err != nil {
			return err
		}
	}
	w.out = append(w.out, tagEnd)
	return nil
}

func (w *resultWriter) object(o ast.Object) error {
	w.out = append(w.out, tagObject)
	err := o.Iter(func(k, v *ast.Term) error {
		name, ok := k.Value.(ast.String)
		if !ok {
			return fmt.Errorf("the keys of an object must be strings, not %s", ast.ValueName(k.Value))
		}
		if err := w.text(string(name)); err != nil {
			return err
		}
		return w.value(v)
	})
	w.out = append(w.out, tagEnd)
	return err
}

// readResult makes an immutable value of a result.
func readResult(m *message) (value.Value, error) {
	r := resultReader{message: m, nodes: value.MaxResultNodes}
	v := r.value(m.tag())
	if m.bad || v == nil {
		return nil, errMangled
	}
	return v, nil
}

type resultReader struct {
	*message
	nodes int
}

// value reads what follows a tag; nil at the end of a list or an object.
func (r *resultReader) value(tag byte) value.Value {
	if tag == tagEnd {
		return nil
	}
	if r.nodes--; r.nodes < 0 {
		r.bad = true
		return nil
	}
	switch tag {
	case tagNull:
		return value.Null
	case tagTrue, tagFalse:
		return value.OfBool(tag == tagTrue)
	case tagInt:
		return value.OfInt(r.int())
	case tagNumber:
		return r.double()
	case tagText:
		return value.OfString(r.text())
	case tagList:
		var items []value.Value
		for item := r.value(r.tag()); item != nil; item = r.value(r.tag()) {
			items = append(items, item)
		}
		return value.NewList(slices.Clip(items))
	case tagObject:
		return r.object()
	}
	r.bad = true
	return nil
}

func (r *resultReader) double() value.Value {
	f, err := strconv.ParseFloat(r.text(), 64)
	if err != nil {
		r.bad = true
		return nil
	}
	return value.OfDouble(f)
}

func (r *resultReader) object() value.Value {
	fields := map[string]value.Value{}
	for tag := r.tag(); tag != tagEnd; tag = r.tag() {
		name := r.text()
		field := r.value(r.tag())
		if field == nil || tag != tagText {
			r.bad = true
			return nil
		}
		fields[name] = field
	}
	return value.FromMap(fields)
}

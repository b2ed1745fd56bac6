package cel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Build evaluates the template. A nil value with a nil error means none: the
// field or item that the template stands for is to be left out.
func (t *Template) Build(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	if t.constant != nil {
		return t.constant, nil
	}
	v, err := t.build(scope, meter)
	if err == nil && v != nil && t.program == nil {
		err = meter.Build(v)
	}
	if err != nil {
		return nil, t.fail(err)
	}
	return v, nil
}

// fail returns an error the template's place, unless it has one.
func (t *Template) fail(err error) error {
	if _, placed := errors.AsType[*expr.Failure](err); placed {
		return err
	}
	return &expr.Failure{At: t.at, Err: err}
}

func (t *Template) build(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	switch {
	case t.program != nil:
		v, err := t.program.Eval(scope, meter)
		return t.written(value.Unwrap(v)), err
	case t.parts != nil:
		return t.join(scope, meter)
	case t.kind == document.List:
		return t.list(scope, meter)
	default:
		return t.mapping(scope, meter)
	}
}

// written returns a value as the API server stores it in the field: a time in a field of
// texts is a text, also for the rules that read it in the same evaluation.
func (t *Template) written(v value.Value) value.Value {
	switch v.(type) {
	case types.Timestamp, types.Duration:
		if text, err := value.Text(v); t.asText && err == nil {
			return value.OfString(text)
		}
	}
	return v
}

// join puts the pieces of a text together, when it is known that they fit.
func (t *Template) join(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	pieces, size := make([]string, len(t.parts)), 0
	for i, p := range t.parts {
		piece := p.literal
		if p.program != nil {
			v, err := p.program.Eval(scope, meter)
			if err != nil {
				return nil, err
			}
			if piece, err = value.Text(v); err != nil {
				return nil, p.program.fail(err)
			}
		}
		pieces[i] = piece
		if size += len(piece); size > value.MaxResultBytes {
			return nil, fmt.Errorf("%w: a text with more than %d bytes; build shorter texts, or name fewer parts", value.ErrResultTooLarge, value.MaxResultBytes)
		}
	}
	if err := meter.Allocate("a text with ${...}", size, size); err != nil {
		return nil, err
	}
	return value.OfString(strings.Join(pieces, "")), nil
}

func (t *Template) list(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	items := make([]value.Value, 0, len(t.values))
	for _, item := range t.values {
		v, err := item.Build(scope, meter)
		if err != nil {
			return nil, err
		}
		if v != nil {
			items = append(items, v)
		}
	}
	return value.NewList(items), nil
}

func (t *Template) mapping(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	if t.names != nil {
		return t.known(scope, meter)
	}
	fields, err := t.Fields(scope, meter)
	if err != nil {
		return nil, err
	}
	return mapOf(fields), nil
}

func mapOf(fields []Field) *value.Map {
	out := make(map[string]value.Value, len(fields))
	for _, f := range fields {
		if f.Value != nil {
			out[f.Name] = f.Value
		}
	}
	return value.FromMap(out)
}

// known makes a mapping whose keys are written out.
func (t *Template) known(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	vals, none := make([]value.Value, len(t.values)), false
	for i, v := range t.values {
		var err error
		if vals[i], err = v.Build(scope, meter); err != nil {
			return nil, err
		}
		none = none || vals[i] == nil
	}
	if !none {
		return t.names.Map(vals...), nil
	}
	fields := make([]Field, len(vals))
	for i, v := range vals {
		name, _ := value.Str(t.keys[i].constant)
		fields[i] = Field{Name: name, Value: v}
	}
	return mapOf(fields), nil
}

// keyNames returns the names of the fields of a mapping whose keys are written out;
// nil for any other.
func (t *Template) keyNames() *value.Names {
	names := make([]string, len(t.keys))
	for i, k := range t.keys {
		name, ok := value.Str(k.constant)
		if !ok || slices.Contains(names[:i], name) {
			return nil
		}
		names[i] = name
	}
	return value.NamesOf(names...)
}

// Field is an evaluated entry of a mapping; a nil Value means none.
type Field struct {
	Name  string
	Value value.Value
}

// Fields evaluates a mapping entry by entry, keeping those that are none.
func (t *Template) Fields(scope expr.Scope, meter *expr.Meter) ([]Field, error) {
	if m, ok := t.constant.(*value.Map); ok {
		out := make([]Field, m.Len())
		for i := range out {
			out[i].Name, out[i].Value = m.At(i)
		}
		return out, nil
	}
	out := make([]Field, 0, len(t.keys))
	for i, key := range t.keys {
		name, err := key.Build(scope, meter)
		if err != nil {
			return nil, err
		}
		text, err := value.Text(name)
		if err != nil {
			return nil, &expr.Failure{At: key.at, Err: err}
		}
		v, err := t.values[i].Build(scope, meter)
		if err != nil {
			return nil, err
		}
		out = append(out, Field{Name: text, Value: v})
	}
	return out, nil
}

package cel

import (
	"errors"

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
		return t.parts.join(scope, meter)
	case t.kind == document.List:
		return t.entries.list(scope, meter)
	default:
		return t.entries.mapping(scope, meter)
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
	return t.entries.fields(scope, meter)
}

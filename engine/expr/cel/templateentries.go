package cel

import (
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// entries are those of a mapping, or the items of a list, which have no keys.
type entries struct {
	keys, values []*Template
	// names are those of a mapping whose keys are all written out.
	names *value.Names
}

// field returns the template of a field; nil when there is none.
func (e *entries) field(name string) *Template {
	for i, k := range e.keys {
		if text, ok := value.Str(k.constant); ok && text == name {
			return e.values[i]
		}
	}
	return nil
}

// vectors reports whether each value is an expression or a constant.
func (e *entries) vectors() bool {
	return !slices.ContainsFunc(e.values, func(v *Template) bool { return v.constant == nil && v.program == nil })
}

// list evaluates the items of a list, without those that are none.
func (e *entries) list(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	items := make([]value.Value, 0, len(e.values))
	for _, item := range e.values {
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

// mapping evaluates the entries of a mapping, without those that are none.
func (e *entries) mapping(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	if e.names != nil {
		return e.known(scope, meter)
	}
	fields, err := e.fields(scope, meter)
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
func (e *entries) known(scope expr.Scope, meter *expr.Meter) (value.Value, error) {
	vals, none := make([]value.Value, len(e.values)), false
	for i, v := range e.values {
		var err error
		if vals[i], err = v.Build(scope, meter); err != nil {
			return nil, err
		}
		none = none || vals[i] == nil
	}
	if !none {
		return e.names.Map(vals...), nil
	}
	fields := make([]Field, len(vals))
	for i, v := range vals {
		name, _ := value.Str(e.keys[i].constant)
		fields[i] = Field{Name: name, Value: v}
	}
	return mapOf(fields), nil
}

// keyNames returns the names of the fields of a mapping whose keys are written out;
// nil for any other.
func (e *entries) keyNames() *value.Names {
	names := make([]string, len(e.keys))
	for i, k := range e.keys {
		name, ok := value.Str(k.constant)
		if !ok || slices.Contains(names[:i], name) {
			return nil
		}
		names[i] = name
	}
	return value.NamesOf(names...)
}

// fields evaluates a mapping entry by entry, keeping those that are none.
func (e *entries) fields(scope expr.Scope, meter *expr.Meter) ([]Field, error) {
	out := make([]Field, 0, len(e.keys))
	for i, key := range e.keys {
		name, err := key.Build(scope, meter)
		if err != nil {
			return nil, err
		}
		text, err := value.Text(name)
		if err != nil {
			return nil, &expr.Failure{At: key.at, Err: err}
		}
		v, err := e.values[i].Build(scope, meter)
		if err != nil {
			return nil, err
		}
		out = append(out, Field{Name: text, Value: v})
	}
	return out, nil
}

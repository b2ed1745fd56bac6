package eval

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Stored reports whether the API server stores what an effect wants of a field as what was
// there: it writes quantities and times in its own way, and sets defaults.
func Stored(current, want value.Value, t *schema.Type) bool { return sameStored(current, want, t) }

// sameStored reports whether the API server stores a value as the one that is there when
// it takes the place of it, as an item of a list does: a list is replaced as a whole.
func sameStored(current, want value.Value, t *schema.Type) bool {
	if sameScalar(current, want, t) {
		return true
	}
	if t == nil { // what else is stored alike is not known
		return false
	}
	switch x := current.(type) {
	case *value.List:
		y, ok := want.(*value.List)
		return ok && slices.EqualFunc(x.Items(), y.Items(), func(a, b value.Value) bool { return sameStored(a, b, t.Item()) })
	case *value.Map:
		y, ok := want.(*value.Map)
		return ok && sameFields(x, y, t)
	}
	return false
}

func sameFields(current, want *value.Map, t *schema.Type) bool {
	for i := range want.Len() {
		name, v := want.At(i)
		if !sameField(current.Lookup(name), v, t, name) {
			return false
		}
	}
	for i := range current.Len() {
		name, v := current.At(i)
		if want.Lookup(name) == nil && !sameField(v, nil, t, name) {
			return false
		}
	}
	return true
}

// sameField is sameStored for a field: one that is left out gets its default.
func sameField(current, want value.Value, t *schema.Type, name string) bool {
	d, ok := t.Default(name)
	left := ok && current != nil && value.IsNull(want) && (want == nil || !d.Nullable)
	return left && isDefault(current, t, name) || !left && sameStored(current, want, typeOf(t, name))
}

// isDefault reports whether a field has the value that it gets when it is left out.
func isDefault(current value.Value, t *schema.Type, name string) bool {
	d, ok := t.Default(name)
	return ok && current != nil && sameStored(current, value.Freeze(d.Value, t.Field(name), value.KeepAll), t.Field(name))
}

// sameScalar is sameStored for what is neither a list nor an object. The API server
// writes quantities in its own way; a time that it has as it was written, or cut to
// seconds, is read as a time.
func sameScalar(current, want value.Value, t *schema.Type) bool {
	switch {
	case value.Same(current, want):
		return true
	case t == nil:
		return false
	case t.Quantity:
		return sameQuantity(current, want)
	case t.Kind == schema.Time:
		return sameTime(current, want, t.Cut)
	}
	_, isTime := value.Time(current)
	return t.Guess && isTime && sameTime(current, want, 0)
}

func sameQuantity(a, b value.Value) bool {
	x, errX := value.ParseQuantity(fmt.Sprint(value.Plain(a)))
	y, errY := value.ParseQuantity(fmt.Sprint(value.Plain(b)))
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

// sameTime compares times of which the API server keeps no more than a fraction.
func sameTime(a, b value.Value, fraction time.Duration) bool {
	x, okX := timeOf(a)
	y, okY := timeOf(b)
	return okX && okY && x.Truncate(fraction).Equal(y.Truncate(fraction))
}

// asRead returns a value that is written to a field as the rules below read it there.
func asRead(v value.Value, t *schema.Type) value.Value {
	if t == nil {
		return v
	}
	switch list, isList := v.(*value.List); {
	case isList && t.Kind == schema.List:
		return listAsRead(list, t.Item())
	case t.Kind != schema.Time:
		return v
	}
	if at, ok := timeOf(v); ok {
		return value.OfTime(at.Truncate(t.Cut))
	}
	return v
}

// listAsRead is asRead for the items of a list, and for their fields.
func listAsRead(list *value.List, t *schema.Type) value.Value {
	var out []value.Value
	for i, item := range list.Items() {
		read := asRead(item, t)
		if m, ok := item.(*value.Map); ok {
			read = fieldsAsRead(m, t)
		}
		if read != item && out == nil {
			out = slices.Clone(list.Items())
		}
		if out != nil {
			out[i] = read
		}
	}
	if out == nil {
		return list
	}
	return value.NewList(out)
}

func fieldsAsRead(m *value.Map, t *schema.Type) value.Value {
	if t == nil || t.Kind == schema.Dyn {
		return m
	}
	out := m
	for i := range m.Len() {
		name, v := m.At(i)
		read := asRead(v, t.Field(name))
		if inner, ok := v.(*value.Map); ok {
			read = fieldsAsRead(inner, t.Field(name))
		}
		if read != v {
			out = out.With(name, read)
		}
	}
	return out
}

// timeOf returns the time that a value is, or that its text says.
func timeOf(v value.Value) (time.Time, bool) {
	text, isText := value.Str(v)
	if !isText {
		return value.Time(v)
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

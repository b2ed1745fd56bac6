package eval

import (
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Stored reports whether the API server stores a value as the one that is there when it
// takes the place of it, as an item of a list does: a list is replaced as a whole.
func Stored(current, want value.Value, t *schema.Type) bool {
	if sameScalar(current, want, t) {
		return true
	}
	if t.Verbatim() { // or it is not known what else is stored alike
		return false
	}
	switch x := current.(type) {
	case *value.List:
		y, ok := want.(*value.List)
		return ok && slices.EqualFunc(x.Items(), y.Items(), func(a, b value.Value) bool { return Stored(a, b, t.Item()) })
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

// sameField is Stored for a field: one that is left out gets its default.
func sameField(current, want value.Value, t *schema.Type, name string) bool {
	if leftOut(want, t, name) && leftOut(current, t, name) {
		return true
	}
	d, ok := t.Default(name)
	left := ok && current != nil && value.IsNull(want) && (want == nil || !d.Nullable)
	return left && isDefault(current, t, name) || !left && Stored(current, want, typeOf(t, name))
}

// isDefault reports whether a field has the value that it gets when it is left out.
func isDefault(current value.Value, t *schema.Type, name string) bool {
	d, ok := t.Default(name)
	return ok && current != nil && Stored(current, value.Freeze(d.Value, t.Field(name), value.KeepAll), t.Field(name))
}

// sameScalar is Stored for what is neither a list nor an object. The API server
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

// asRead returns a value that is written to a field as the rules below read it there: its
// times are times.
func asRead(v value.Value, t *schema.Type) value.Value {
	if t.Verbatim() || t.Kind == schema.Dyn {
		return v
	}
	switch v := v.(type) {
	case *value.Map:
		return fieldsAsRead(v, t)
	case *value.List:
		return itemsAsRead(v, t.Item())
	}
	if t.Kind != schema.Time {
		return v
	}
	if at, ok := timeOf(v); ok {
		return value.OfTime(at.Truncate(t.Cut))
	}
	return v
}

func fieldsAsRead(m *value.Map, t *schema.Type) value.Value {
	out := m
	for i := range m.Len() {
		name, v := m.At(i)
		if read := asRead(v, typeOf(t, name)); !identical(read, v) {
			out = out.With(name, read)
		}
	}
	return out
}

func itemsAsRead(list *value.List, t *schema.Type) value.Value {
	var out []value.Value
	for i, item := range list.Items() {
		read := asRead(item, t)
		if out == nil && !identical(read, item) {
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

// timeOf returns the time that a value is, or that its text says.
func timeOf(v value.Value) (time.Time, bool) {
	text, isText := value.Str(v)
	if !isText {
		return value.Time(v)
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

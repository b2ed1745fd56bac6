package value

import (
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
)

// OfString makes a string value.
func OfString(s string) Value {
	if len(s) == 1 {
		return letters[s[0]]
	}
	return types.String(s)
}

// letters are the texts of one byte. Most are digits: of small numbers, and of names that
// end with one.
var letters = func() (out [256]Value) {
	for i := range out {
		out[i] = types.String([]byte{byte(i)})
	}
	return out
}()

// OfBool makes a boolean value.
func OfBool(b bool) Value { return types.Bool(b) }

// OfInt makes an integer value.
func OfInt(i int64) Value { return types.Int(i) }

// OfTime makes a timestamp.
func OfTime(t time.Time) Value { return types.Timestamp{Time: t.UTC()} }

// ParseTime returns the time that a text is in the form of RFC 3339, as timestamp(text) of
// CEL reads it.
func ParseTime(text string) (Value, bool) {
	t, ok := types.String(text).ConvertToType(types.TimestampType).(types.Timestamp)
	return OfTime(t.Time), ok
}

// OfDuration makes a duration.
func OfDuration(d time.Duration) Value { return types.Duration{Duration: d} }

// Null is the null value.
var Null Value = types.NullValue

// None is the optional without a value.
var None Value = types.OptionalNone

// Some is the optional with a value.
func Some(v Value) Value { return types.OptionalOf(v) }

// IsTrue reports whether a value is the boolean true.
func IsTrue(v Value) bool { return v == types.True }

// IsNull reports whether a value is null or absent.
func IsNull(v Value) bool {
	_, null := v.(types.Null)
	return v == nil || null
}

// Unwrap returns an optional's value, nil for one without; any other value as
// it is.
func Unwrap(v Value) Value {
	if o, ok := v.(*types.Optional); ok {
		if !o.HasValue() {
			return nil
		}
		return o.GetValue()
	}
	return v
}

// Time returns a timestamp's instant, and whether the value is one.
func Time(v Value) (time.Time, bool) {
	t, ok := v.(types.Timestamp)
	return t.Time, ok
}

// Duration returns a duration's length, and whether the value is one.
func Duration(v Value) (time.Duration, bool) {
	d, ok := v.(types.Duration)
	return d.Duration, ok
}

// Int returns an integer, and whether the value is one.
func Int(v Value) (int64, bool) {
	i, ok := v.(types.Int)
	return int64(i), ok
}

// Strings returns the strings of a list; others in it are left out.
func Strings(v Value) []string {
	l, ok := v.(*List)
	if !ok {
		return nil
	}
	out := make([]string, 0, l.Len())
	for _, item := range l.items {
		if s, ok := item.(types.String); ok {
			out = append(out, string(s))
		}
	}
	return out
}

// Size returns the length of a string, list or object, and of what a value of a library
// holds; 1 for anything else.
func Size(v Value) int {
	switch v := v.(type) {
	case *Map:
		return v.Len()
	case *List:
		return v.Len()
	case types.String:
		return len(v)
	case nil, types.Bool, types.Int, types.Uint, types.Double, types.Null, types.Timestamp, types.Duration, traits.Sizer, *types.Optional:
		return 1
	}
	return max(1, held(v))
}

// OfDouble makes a floating-point value.
func OfDouble(f float64) Value { return types.Double(f) }

// Double returns a floating-point number, and whether the value is one.
func Double(v Value) (float64, bool) {
	f, ok := v.(types.Double)
	return float64(f), ok
}

// NameOf returns the name of a value for people: that of an object, or the text that
// it is; "" when it has none.
func NameOf(v Value) string {
	if s, ok := Str(v); ok {
		return s
	}
	for _, path := range [][]string{{"metadata", "name"}, {"name"}} {
		if s := StringAt(v, path...); s != "" {
			return s
		}
	}
	return ""
}

// OfStrings makes a list of strings.
func OfStrings(list []string) *List {
	items := make([]Value, len(list))
	for i, s := range list {
		items[i] = OfString(s)
	}
	return NewList(items)
}

// Overwrite returns an object with one field set, at a path that is made where
// it is missing.
func Overwrite(m *Map, v Value, path ...string) *Map {
	if len(path) == 1 {
		return m.With(path[0], v)
	}
	inner, ok := m.Lookup(path[0]).(*Map)
	if !ok {
		inner = Empty
	}
	return m.With(path[0], Overwrite(inner, v, path[1:]...))
}

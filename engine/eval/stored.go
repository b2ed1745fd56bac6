package eval

import (
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

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
	if t == nil || t.Kind != schema.Time {
		return v
	}
	if at, ok := timeOf(v); ok {
		return value.OfTime(at.Truncate(t.Cut))
	}
	return v
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

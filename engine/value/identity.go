package value

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Identity writes a value so that equal values, and only these, have equal texts. A whole
// number that is no exact double is told from the double that it is equal to.
func Identity(v Value) string {
	if s, ok := Str(v); ok {
		return "s" + s
	}
	return string(identity{}.append(nil, v))
}

// IndexKey writes a value as the key of an index: equal values have equal keys, and others
// may have.
func IndexKey(v Value) string { return string(identity{doubles: true}.append(nil, v)) }

// identity writes values. Each begins with a letter for its type, and what has no fixed
// length with its length.
type identity struct {
	// doubles says that all numbers are written as doubles.
	doubles bool
}

func (w identity) append(to []byte, v Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(to, '?')
	case *Map:
		to = sized(to, 'm', v.Len())
		for i, key := range v.keys() {
			to = w.append(text(to, 's', key), v.vals[i])
		}
		return to
	case *List:
		to = sized(to, 'l', v.Len())
		for _, item := range v.items {
			to = w.append(to, item)
		}
		return to
	case *types.Optional:
		if v.HasValue() {
			return w.append(append(to, 'o'), v.GetValue())
		}
		return append(to, '-')
	default:
		return w.scalar(to, v)
	}
}

func (w identity) scalar(to []byte, v Value) []byte {
	switch v := v.(type) {
	case types.String:
		return text(to, 's', string(v))
	case types.Bytes:
		return text(to, 'y', string(v))
	case types.Null:
		return append(to, '0')
	case types.Bool:
		return strconv.AppendBool(append(to, 'b'), bool(v))
	case types.Int:
		return w.whole(to, int64(v))
	case types.Uint:
		if v <= math.MaxInt64 {
			return w.whole(to, int64(v))
		}
		return w.double(to, float64(v))
	case types.Double:
		return w.double(to, float64(v))
	case types.Timestamp:
		return text(to, 't', v.UTC().Format("2006-01-02T15:04:05.999999999"))
	default:
		return text(text(to, 'v', v.Type().TypeName()), 's', canonical(v))
	}
}

func (w identity) whole(to []byte, i int64) []byte {
	if w.doubles {
		return w.double(to, float64(i))
	}
	return append(strconv.AppendInt(append(to, 'n'), i, 10), ';')
}

// double writes a whole number like the equal int.
func (w identity) double(to []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return append(strconv.AppendInt(append(to, 'n'), int64(f), 10), ';') // -0 is 0
	}
	return append(strconv.AppendFloat(append(to, 'n'), f, 'g', -1, 64), ';')
}

// sized begins something of a length.
func sized(to []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(to, kind), int64(n), 10), ':')
}

func text(to []byte, kind byte, s string) []byte { return append(sized(to, kind, len(s)), s...) }

// canonical writes values of a library's own type so that equal ones have equal texts.
func canonical(v Value) string {
	switch x := v.Value().(type) {
	case *resource.Quantity:
		if r, ok := new(big.Rat).SetString(x.AsDec().String()); ok {
			return r.RatString()
		}
	case semver.Version:
		x.Build = nil // versions that differ in it are equal
		return x.String()
	}
	return fmt.Sprint(v.Value())
}

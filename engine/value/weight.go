package value

import (
	"math"
	"net/url"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Bytes that values are counted with, apart from the texts in them: what a
// scalar takes in a list or map, and what a list or map takes itself.
const (
	ScalarBytes = 16
	HolderBytes = 48
)

// sizes are what is known of a list or map once it is made. All numbers stop
// counting at the largest number that they hold.
type sizes struct {
	// weight is what Weight returns, deep what Deep does, built what Built does.
	weight, deep, built uint32
	// optionals is whether there may be optionals in it, infinite whether there may be
	// numbers that JSON does not have.
	optionals, infinite bool
}

// partSizes are the sizes of an object of the read model, or of a part of one.
func partSizes(deep int) sizes { return sizes{weight: 1, deep: narrow(deep), built: ScalarBytes} }

// narrow keeps a size within what sizes holds.
func narrow(n int) uint32 { return uint32(max(0, min(n, math.MaxUint32))) }

// Weight is how many nodes a value has when it is written out. A part of an
// object of the read model counts as one, however large it is: objects are
// bounded by what the API server takes, and naming one costs nothing. What
// expressions and templates build counts in full, also where it names one part
// many times over: a short text could build a value that no memory holds.
func Weight(v Value) int {
	if s := sizesOf(v); s != nil {
		return max(1, int(s.weight))
	}
	return 1
}

// Deep is how many bytes a value has, with all that is in it: each part counts
// as often as it is named, as when the value is copied, compared or written.
// It takes no longer for a large value than for a small one.
func Deep(v Value) int {
	switch v := v.(type) { // what there is most of
	case types.String:
		return ScalarBytes + len(v)
	case types.Bool, types.Int:
		return ScalarBytes
	}
	if s := sizesOf(v); s != nil {
		return max(HolderBytes, int(s.deep))
	}
	return scalarBytes(v)
}

// Built is how many bytes a value keeps in memory, apart from the objects of
// the read model that it names: these are kept anyway.
func Built(v Value) int {
	if s := sizesOf(v); s != nil {
		return max(ScalarBytes, int(s.built))
	}
	return scalarBytes(v)
}

// Borrowed marks a list or map that was just made as one that is kept anyway, as
// a part of an object is: Built counts it as a scalar.
func Borrowed(v Value) Value {
	if s := sizesOf(v); s != nil && v != Value(Empty) {
		s.built = ScalarBytes
	}
	return v
}

func sizesOf(v Value) *sizes {
	switch v := v.(type) {
	case *Map:
		return &v.sizes
	case *List:
		return &v.sizes
	case types.String, types.Bool, types.Int, types.Null, types.Timestamp:
		return nil // most values: it need not be found out that they have no method
	case *types.Optional:
		return sizesOf(Unwrap(v))
	case interface{ frozenMap() *Map }:
		return &v.frozenMap().sizes
	}
	return nil
}

// frozenMap returns the Map of a type that embeds one.
func (m *Map) frozenMap() *Map { return m }

func scalarBytes(v Value) int {
	switch v := Unwrap(v).(type) {
	case types.String:
		return ScalarBytes + len(v)
	case types.Bytes:
		return ScalarBytes + len(v)
	case nil, types.Bool, types.Int, types.Uint, types.Double, types.Null, types.Timestamp, types.Duration, traits.Sizer:
		return ScalarBytes
	default:
		return libraryBytes + held(v)
	}
}

// libraryBytes is what a value of a library takes, apart from what it holds.
const libraryBytes = 256

// held returns the length of the texts and numbers in a value of a library: the digits of
// a quantity, the parts of a semantic version or of a URL.
func held(v Value) (n int) {
	switch v := v.Value().(type) {
	case *resource.Quantity:
		return Digits(v)
	case semver.Version:
		for _, p := range v.Pre {
			n += HolderBytes + len(p.VersionStr)
		}
		for _, b := range v.Build {
			n += ScalarBytes + len(b)
		}
	case *url.URL:
		if v != nil {
			password, _ := v.User.Password()
			n = len(v.Scheme) + len(v.Opaque) + len(v.User.Username()) + len(password) + len(v.Host) + len(v.Path) + len(v.RawPath) + len(v.RawQuery)
		}
	}
	return n
}

// Digits returns about how many digits a quantity has. One that is parsed has few, sums
// may have any number.
func Digits(q *resource.Quantity) int {
	if _, ok := q.AsInt64(); ok {
		return 1
	}
	c := q.DeepCopy() // AsDec changes it
	return 1 + c.AsDec().UnscaledBig().BitLen()*3/10
}

// sizesOfParts adds up the sizes of what a list or map is made of.
func sizesOfParts(keys []string, parts []Value) sizes {
	weight, deep, built, optionals, infinite := 1, HolderBytes, HolderBytes, false, false
	for _, p := range parts {
		optionals, infinite = optionals || HasOptionals(p), infinite || hasInfinite(p)
		if s := sizesOf(p); s != nil {
			weight += max(1, int(s.weight))
			deep += max(HolderBytes, int(s.deep))
			built += max(ScalarBytes, int(s.built))
			continue
		}
		bytes := scalarBytes(p)
		weight, deep, built = weight+1, deep+bytes, built+bytes
	}
	for _, k := range keys {
		deep += ScalarBytes + len(k)
		built += ScalarBytes + len(k)
	}
	return sizes{weight: narrow(weight), deep: narrow(deep), built: narrow(built), optionals: optionals, infinite: infinite}
}

// swap returns the sizes of a map in which one value has taken the place of
// another.
func (s sizes) swap(was, now Value) sizes {
	return sizes{
		weight: narrow(max(1, int(s.weight)) - Weight(was) + Weight(now)),
		deep:   narrow(max(HolderBytes, int(s.deep)-Deep(was)) + Deep(now)),
		built:  narrow(max(ScalarBytes, int(s.built)-Built(was)) + Built(now)),

		optionals: s.optionals || HasOptionals(now), infinite: s.infinite || hasInfinite(now),
	}
}

package value

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/resource"
)

// CompareAll compares lists of values of the same length one after the other.
// Values of different types are ordered by the names of the types, so that the
// order is total; none comes first, Last last.
func CompareAll(a, b []Value) int {
	for i := range a {
		if c := compareAny(Unwrap(a[i]), Unwrap(b[i])); c != 0 {
			return c
		}
	}
	return 0
}

// Last comes after all other values in the order of CompareAll. It is nothing else.
var Last Value = last{Null}

// last has a type of its own, whose name comes after those of all others.
type last struct{ ref.Val }

var lastType = types.NewOpaqueType("\U0010FFFF")

func (last) Type() ref.Type { return lastType }

func compareAny(a, b Value) int {
	if a == nil || b == nil {
		return cmp.Compare(present(a), present(b))
	}
	if c, ok := Compare(a, b); ok {
		return c
	}
	return cmp.Compare(a.Type().TypeName(), b.Type().TypeName())
}

// Compare orders two values of one type: numbers, texts, times, durations, booleans,
// quantities, versions or IP addresses. ok is false when they cannot be compared.
func Compare(a, b Value) (order int, ok bool) {
	if x, text := a.(types.String); text {
		if y, text := b.(types.String); text {
			return strings.Compare(string(x), string(y)), true
		}
	}
	if b == nil {
		return 0, false
	}
	if c, comparable := a.(traits.Comparer); comparable {
		i, isInt := c.Compare(b).(types.Int)
		return int(i), isInt
	}
	return compareOpaque(a, b)
}

// Ordered reports whether values of a library's own type have an order.
func Ordered(typeName string) bool {
	return slices.Contains([]string{"kubernetes.Quantity", "kubernetes.Semver", "net.IP"}, typeName)
}

// compareOpaque orders values of a library's own type.
func compareOpaque(a, b Value) (order int, ok bool) {
	if a.Type() != b.Type() {
		return 0, false
	}
	switch x := a.Value().(type) {
	case *resource.Quantity:
		if y, ok := b.Value().(*resource.Quantity); ok {
			return x.Cmp(*y), true
		}
	case semver.Version:
		if y, ok := b.Value().(semver.Version); ok {
			return x.Compare(y), true
		}
	case netip.Addr:
		if y, ok := b.Value().(netip.Addr); ok {
			return x.Compare(y), true
		}
	}
	return 0, false
}

func present(v Value) int {
	if v == nil {
		return 0
	}
	return 1
}

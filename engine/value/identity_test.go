package value

import (
	"fmt"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel"
)

func quantity(text string) Value {
	q := resource.MustParse(text)
	return cel.Quantity{Quantity: &q}
}

func version(text string) Value { return cel.Semver{Version: semver.MustParse(text)} }

func moment(text string) Value {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return types.Timestamp{Time: at}
}

// scalars are values of all types, some of them equal to others.
func scalars() []Value {
	return []Value{
		Null, None, OfBool(true), OfBool(false), OfString(""), OfString("1"), OfString("1Gi"), OfString("2026-01-01T00:00:00Z"), OfString("1s"), OfString("MQ=="),
		OfInt(0), OfInt(1), OfInt(-1), OfInt(math.MaxInt64), OfInt(1 << 53), types.Uint(0), types.Uint(1), types.Uint(math.MaxUint64),
		OfDouble(0), OfDouble(math.Copysign(0, -1)), OfDouble(1), OfDouble(1.5), OfDouble(1e30), OfDouble(math.Inf(1)), OfDouble(1 << 53), OfDouble(math.MaxUint64),
		types.Bytes("1"), types.Bytes(""), types.Duration{Duration: time.Second}, types.Duration{Duration: time.Minute},
		moment("2026-01-01T00:00:00Z"), moment("2026-01-01T02:00:00+02:00"), moment("2026-01-01T00:00:01Z"),
		quantity("1Gi"), quantity("1073741824"), quantity("1024Mi"), quantity("1"), quantity("1000m"), quantity("0.5"), quantity("500m"), quantity("-1"),
		version("1.0.0"), version("1.0.0+a"), version("1.0.0-rc.1"), version("1.10.0"), version("1.2.0"),
		cel.IP{Addr: netip.MustParseAddr("10.0.0.1")}, cel.IP{Addr: netip.MustParseAddr("10.0.0.2")}, cel.IP{Addr: netip.MustParseAddr("::1")},
		cel.CIDR{Prefix: netip.MustParsePrefix("10.0.0.0/8")},
	}
}

// all are the scalars, and each in a list, an object and an optional.
func all() (out []Value) {
	for _, v := range scalars() {
		out = append(out, v, NewList([]Value{v}), NewMap([]string{"a"}, []Value{v}), Some(v), NewList([]Value{v, v}))
	}
	return append(out, Empty, EmptyList, NewMap([]string{"a", "b"}, []Value{OfInt(1), OfInt(2)}), NewList([]Value{OfString("a"), OfString("b")}), NewList([]Value{OfString("as1:b")}))
}

// TestComparisons: two values have one identity if they are equal, one key of an index then at
// least, and what is alike is equal. Nothing that compares values panics.
func TestComparisons(t *testing.T) {
	t.Parallel()
	list := all()
	for _, a := range list {
		for _, b := range list {
			name := fmt.Sprintf("%v %v and %v %v", a.Type(), a.Value(), b.Type(), b.Value())
			equal := IsTrue(a.Equal(b))
			if same := Identity(a) == Identity(b); same != equal {
				t.Errorf("%s are equal: %v, have one identity %q: %v", name, equal, Identity(a), same)
			}
			if equal && IndexKey(a) != IndexKey(b) {
				t.Errorf("%s are equal, the keys are %q and %q", name, IndexKey(a), IndexKey(b))
			}
			if Alike(a, b) && (!equal || a.Type() != b.Type() || fmt.Sprint(Plain(a)) != fmt.Sprint(Plain(b))) {
				t.Errorf("%s are alike", name)
			}
			if c, ok := Compare(a, b); ok && (c == 0) != equal {
				t.Errorf("%s compare as %d", name, c)
			}
			if contains := IsTrue(NewList([]Value{Null, a}).Contains(b)); contains != (equal || IsTrue(Null.Equal(b))) {
				t.Errorf("%s: the first in a list contains the second: %v", name, contains)
			}
			Same(a, b)
			SameUnder(a, b, &Mask{All: true})
		}
		if !Alike(a, a) {
			t.Errorf("%v %v is not alike itself", a.Type(), a.Value())
		}
	}
}

// TestOrdered: what is said to have an order is compared, and nothing else of a library.
func TestOrdered(t *testing.T) {
	t.Parallel()
	for _, v := range scalars() {
		if _, comparable := v.(traits.Comparer); comparable {
			continue
		}
		if _, ok := Compare(v, v); ok != Ordered(v.Type().TypeName()) {
			t.Errorf("%v: compared %v, ordered %v", v.Type(), ok, Ordered(v.Type().TypeName()))
		}
	}
}

// TestAlikeAsSeen: what is equal, but seen to differ, is not alike.
func TestAlikeAsSeen(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]Value{
		{OfInt(1), OfDouble(1)}, {OfInt(1), types.Uint(1)}, {OfDouble(0), OfDouble(math.Copysign(0, -1))},
		{moment("2026-01-01T00:00:00Z"), moment("2026-01-01T02:00:00+02:00")},
		{quantity("1Gi"), quantity("1073741824")}, {version("1.0.0"), version("1.0.0+a")},
	} {
		if !IsTrue(pair[0].Equal(pair[1])) || Alike(pair[0], pair[1]) || Alike(Some(pair[0]), Some(pair[1])) {
			t.Errorf("%v: equal %v, alike %v", pair, pair[0].Equal(pair[1]), Alike(pair[0], pair[1]))
		}
	}
	for _, pair := range [][2]Value{{quantity("1Gi"), quantity("1024Mi")}, {moment("2026-01-01T00:00:00Z"), moment("2026-01-01T00:00:00+00:00")}} {
		if !Alike(pair[0], pair[1]) {
			t.Errorf("%v is not alike", pair)
		}
	}
}

package quantity

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel"

	"github.com/edict-dev/edict/engine/value"
)

func function(name string) func(...value.Value) (value.Value, error) {
	for _, f := range Functions() {
		if f.Name == name {
			return func(args ...value.Value) (value.Value, error) { return f.Do(nil, args) }
		}
	}
	panic(name)
}

func TestSum(t *testing.T) {
	t.Parallel()
	text := value.OfString
	for _, tc := range []struct {
		list []value.Value
		want string
	}{
		{nil, "0"},
		{[]value.Value{text("100m"), text("900m")}, "1"},
		{[]value.Value{text("1Gi"), text("512Mi")}, "1536Mi"},
		{[]value.Value{text("1Gi"), value.OfInt(1)}, "1073741825"},
	} {
		if got, err := function("quantity.sum")(value.NewList(tc.list)); err != nil || got != text(tc.want) {
			t.Errorf("%v: %v, %v; want %s", tc.list, got, err, tc.want)
		}
	}
	if got, err := function("quantity.sum")(value.NewList([]value.Value{text("x")})); err == nil {
		t.Errorf("got %v, want an error", got)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]value.Value{"1000m": value.OfString("1"), "1.5Gi": value.OfString("1536Mi"), "much": nil, "": nil} {
		got, err := function("quantity.parse")(value.OfString(give))
		if err != nil || want == nil && got != value.None || want != nil && !value.IsTrue(got.Equal(value.Some(want))) {
			t.Errorf("%q: %v, %v; want %v", give, got, err, want)
		}
	}
}

// TestMilli: thousandths of what is written are exact, and what is finer is rounded up.
func TestMilli(t *testing.T) {
	t.Parallel()
	for n := range int64(5_001) {
		for _, give := range []value.Value{value.OfString(fmt.Sprint(n, "m")), value.OfString(fmt.Sprintf("%d.%03d", n/1000, n%1000)), value.OfDouble(float64(n) / 1000)} {
			if got, err := function("quantity.milli")(give); err != nil || got != value.OfInt(n) {
				t.Fatalf("%v: %v, %v", give.Value(), got, err)
			}
		}
	}
	for give, want := range map[string]string{
		"1": "1000", "1.5Gi": "1610612736000", "-1500m": "-1500", "1n": "1", "-1u": "-1", "1e3": "1000000", "9223372036854775807m": "9223372036854775807",
		"9223372036854775808m": `does not fit into 64 bits`, "10P": `"10P" does not fit into 64 bits as thousandths`, "x": `"x" is not a quantity`, "": `"" is not a quantity`,
	} {
		got, err := function("quantity.milli")(value.OfString(give))
		if n, _ := value.Int(got); fmt.Sprint(n) != want && !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, %v; want %s", give, got, err, want)
		}
	}
}

func TestMul(t *testing.T) {
	t.Parallel()
	text, n, f := value.OfString, value.OfInt, value.OfDouble
	for _, tc := range []struct {
		q, by value.Value
		want  string
	}{
		{text("700m"), n(2), "1400m"}, {text("700m"), n(10), "7"}, {text("1Gi"), n(3), "3Gi"}, {text("1Gi"), f(0.5), "512Mi"}, {text("100m"), f(0.1), "10m"},
		{text("1Gi"), text("300m"), "322122547200m"}, {text("1G"), n(-2), "-2G"}, {text("1e3"), n(5), "5e3"}, {n(7), n(3), "21"}, {text("1Gi"), n(0), "0"},
		{text("1n"), f(0.5), "1n"}, {text("-1n"), f(0.5), "-1n"}, {text("350m"), n(9_000_000_000_000_000), "3150T"},
		{text("999999999E"), n(1_000_000_000), `does not fit into 64 bits`}, {text("4E"), n(2), "8E"}, {text("5E"), n(-2), "does not fit"},
		{text("x"), n(1), `"x" is not a quantity`}, {text("1"), text("x"), `"x" is not a quantity`}, {text("1"), f(math.NaN()), `"NaN" is not a quantity`}, {text("1"), f(math.Inf(1)), `"+Inf" is not`},
	} {
		got, err := function("quantity.mul")(tc.q, tc.by)
		if product, _ := value.Str(got); product != tc.want && !strings.Contains(fmt.Sprint(err), tc.want) {
			t.Errorf("%v times %v: %v, %v; want %s", tc.q.Value(), tc.by.Value(), got, err, tc.want)
		}
	}
}

// TestComputed: what a.add(b) and a.sub(b) give is a quantity like any other.
func TestComputed(t *testing.T) {
	t.Parallel()
	free := resource.MustParse("10Gi")
	free.Sub(resource.MustParse("2.5Gi"))
	give, before := cel.Quantity{Quantity: &free}, free.DeepCopy()
	if got, err := function("quantity.parse")(give); err != nil || !value.IsTrue(got.Equal(value.Some(value.OfString("7680Mi")))) {
		t.Errorf("parse: %v, %v", got, err)
	}
	if got, err := function("quantity.value")(give); err != nil || got != value.OfInt(7680<<20) {
		t.Errorf("value: %v, %v", got, err)
	}
	if got, err := function("quantity.sum")(value.NewList([]value.Value{give, value.OfString("512Mi")})); err != nil || got != value.OfString("8Gi") {
		t.Errorf("sum: %v, %v", got, err)
	}
	if free.Cmp(before) != 0 {
		t.Errorf("it has changed to %s", free.String())
	}
}

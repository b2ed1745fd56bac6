package quantity

import (
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

package value

import (
	"math/rand/v2"
	"testing"
)

// TestRows: objects are the same kept as maps and field by field.
func TestRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	names := []string{"name", "pool", "labels"}
	const n = 50
	maps, columns := make([]*Map, n), make([][]Value, len(names))
	for f := range columns {
		columns[f] = make([]Value, n)
	}
	for i := range n {
		fields := map[string]Value{}
		for f, name := range names {
			v := []Value{nil, OfString("a"), OfInt(int64(i)), Null, FromMap(map[string]Value{"x": OfInt(1)})}[max(r.IntN(5), 1-f)]
			if columns[f][i] = v; v != nil {
				fields[name] = v
			}
		}
		maps[i] = FromMap(fields)
	}
	byMap, byField := RowsOf(maps...), NewRows(names, columns)
	if byMap.Len() != n || byField.Len() != n || byMap.Built() != byField.Built() {
		t.Errorf("%d and %d objects of %d and %d bytes", byMap.Len(), byField.Len(), byMap.Built(), byField.Built())
	}
	for i, m := range maps {
		if got := byField.At(i); byMap.At(i) != m || !Alike(got, m) {
			t.Errorf("object %d is %v, want %v", i, Plain(got), Plain(m))
		}
		for _, name := range append(names, "other") {
			if got, want := byField.Field(i, name), m.Lookup(name); !Alike(got, want) || !Alike(byMap.Field(i, name), want) {
				t.Errorf("%q of object %d is %v, want %v", name, i, got, want)
			}
		}
		for j := range maps {
			want := Alike(m, maps[j])
			if byField.Alike(i, byField, j) != want || byField.Alike(i, byMap, j) != want || byMap.Alike(i, byField, j) != want {
				t.Errorf("that objects %d and %d are the same is not %v", i, j, want)
			}
		}
	}
}

package value

import (
	"fmt"
	"testing"
)

// TestLookupAmongMany: each name of a large object is found, and no other, before and
// after the table of its names is made.
func TestLookupAmongMany(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 9, manyKeys - 1, manyKeys, 1000} {
		fields := map[string]Value{}
		for i := range size {
			fields[fmt.Sprintf("key-%d", i)] = OfInt(int64(i))
		}
		m := FromMap(fields)
		for at, key := range m.keys() { // in their order, which needs no table
			if v := m.Lookup(key); v != m.vals[at] {
				t.Fatalf("%s of %d keys is %v", key, size, v)
			}
		}
		if m.shape.table.Load() != nil {
			t.Errorf("%d keys have a table already", size)
		}
		for range 3 {
			for i := range size {
				if got, _ := Int(m.Lookup(fmt.Sprintf("key-%d", i))); got != int64(i) {
					t.Fatalf("key %d of %d is %d", i, size, got)
				}
			}
			for _, key := range []string{"", "key", "key-", fmt.Sprintf("key-%d", size)} {
				if v := m.Lookup(key); v != nil {
					t.Fatalf("%q of %d keys is %v", key, size, v)
				}
			}
		}
		if made := m.shape.table.Load() != nil; made != (size >= manyKeys) {
			t.Errorf("%d keys have a table: %t", size, made)
		}
	}
}

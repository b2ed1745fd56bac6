package value

import "testing"

// TestBulkOfFew: an item that has changed takes no more memory than about its own, as it
// may be all that is left of what was decoded with it.
func TestBulkOfFew(t *testing.T) {
	t.Parallel()
	b := bulk{depth: 1}
	for range 3 {
		b.object()
	}
	b.values(4)
	b.string([]byte("vg-00500-a"))
	if b.mapsSize > 2 || b.valsSize > 4 || b.textSize > 10 {
		t.Errorf("pieces of %d objects, %d values and %d bytes for 3, 4 and 10", b.mapsSize, b.valsSize, b.textSize)
	}
}

// TestBulkOfMany: pieces are as large as they become, and what they hold stays what it
// is.
func TestBulkOfMany(t *testing.T) {
	t.Parallel()
	b := bulk{depth: 1}
	var texts []Value
	for i := range 2000 {
		text := []byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676)}
		texts = append(texts, b.string(text))
		clear(text)
		copy(b.values(3), []Value{Null, Null, Null})
		m := b.object()
		if m.shape != nil {
			t.Fatal("an object is handed out twice")
		}
		m.shape = noKeys
	}
	for i, v := range texts {
		if got, _ := Str(v); got != string([]byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676)}) {
			t.Fatalf("text %d is %q", i, got)
		}
	}
	if b.mapsSize != bulkMaps || b.valsSize != bulkVals || b.textSize != bulkText {
		t.Errorf("pieces of %d objects, %d values and %d bytes", b.mapsSize, b.valsSize, b.textSize)
	}
}

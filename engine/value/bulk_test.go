package value

import "testing"

// TestBulkOfFew: an item that has changed takes no more memory than about its own, as it
// may be all that is left of what was decoded with it.
func TestBulkOfFew(t *testing.T) {
	t.Parallel()
	b := bulk{depth: 1}
	for range 3 {
		b.object(Map{})
		b.list()
	}
	b.values(4)
	b.string([]byte("vg-00500-a"), new(uint))
	if b.maps.size > 2 || b.lists.size > 2 || b.vals.size > 4 || b.textSize > 10 {
		t.Errorf("pieces of %d objects, %d values and %d bytes for 3, 4 and 10", b.maps.size, b.vals.size, b.textSize)
	}
}

// TestBulkOfMany: pieces are as large as they become, and what they hold stays what it
// is.
func TestBulkOfMany(t *testing.T) {
	t.Parallel()
	b := bulk{depth: 1}
	var texts []Value
	var fresh uint
	maps, lists := map[*Map]bool{}, map[*List]bool{}
	for i := range 2000 {
		text := []byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676)}
		texts = append(texts, b.string(text, &fresh))
		clear(text)
		copy(b.values(3), []Value{Null, Null, Null})
		maps[b.object(Map{})] = true
		lists[b.list()] = true
	}
	for i, v := range texts {
		if got, _ := Str(v); got != string([]byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676)}) {
			t.Fatalf("text %d is %q", i, got)
		}
	}
	if len(maps) != 2000 || len(lists) != 2000 {
		t.Error("an object or a list is handed out twice")
	}
	if b.maps.size != bulkHolders || b.lists.size != bulkHolders || b.vals.size != bulkVals || b.textSize != bulkText {
		t.Errorf("pieces of %d objects, %d values and %d bytes", b.maps.size, b.vals.size, b.textSize)
	}
}

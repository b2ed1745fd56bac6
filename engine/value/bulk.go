package value

import (
	"hash/maphash"
	"strings"

	"github.com/google/cel-go/common/types"
)

// bulk makes the parts of many objects in a few pieces of memory, each of which is
// freed when none of its parts is used any more. It is for the items of long lists. The
// first pieces are small: of a list of which little has changed, little is made.
type bulk struct {
	// depth is how many long lists are under way.
	depth int
	maps  []Map
	vals  []Value
	text  strings.Builder
	// How large the last pieces were.
	mapsSize, valsSize, textSize int
	// last are texts that were made last, by their hash: the same few reasons and types come
	// again and again.
	last [64]Value
}

// How large the pieces become: objects, values, and bytes of texts.
const (
	bulkMaps = 32
	bulkVals = 128
	bulkText = 2048
)

// object returns an object to fill in.
func (b *bulk) object() *Map {
	if b.depth == 0 {
		return &Map{}
	}
	if len(b.maps) == 0 {
		b.mapsSize = min(max(1, 2*b.mapsSize), bulkMaps)
		b.maps = make([]Map, b.mapsSize)
	}
	m := &b.maps[0]
	b.maps = b.maps[1:]
	return m
}

// values returns room for values.
func (b *bulk) values(n int) []Value {
	if b.depth == 0 || n > bulkVals/4 {
		return make([]Value, n)
	}
	if n > len(b.vals) {
		b.valsSize = min(max(n, 2*b.valsSize), bulkVals)
		b.vals = make([]Value, b.valsSize)
	}
	out := b.vals[:n:n]
	b.vals = b.vals[n:]
	return out
}

// string returns the value of a text that stands for itself.
func (b *bulk) string(raw []byte) Value {
	if b.depth == 0 || len(raw) > bulkText/8 {
		return types.String(raw)
	}
	at := &b.last[maphash.Bytes(textSeed, raw)%uint64(len(b.last))]
	if known, ok := (*at).(types.String); ok && string(known) == string(raw) {
		return *at
	}
	if b.text.Cap()-b.text.Len() < len(raw) {
		b.textSize = min(max(len(raw), 2*b.textSize), bulkText)
		b.text = strings.Builder{}
		b.text.Grow(b.textSize)
	}
	from := b.text.Len()
	b.text.Write(raw)
	*at = types.String(b.text.String()[from:])
	return *at
}

// end forgets what is left of the pieces.
func (b *bulk) end() { *b = bulk{} }

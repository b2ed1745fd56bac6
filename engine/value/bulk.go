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
	maps  pieces[Map]
	lists pieces[List]
	vals  pieces[Value]
	texts strings.Builder
	// textSize is how large the last piece of texts was, in bytes.
	textSize int
	// last are texts that were made last, by two parts of their hash: the same few reasons
	// and types come again and again.
	last [64]Value
}

// How large the pieces become: objects or lists, values, and bytes of texts. With the
// word that Go adds to what holds pointers, they fill what it takes for them.
const (
	bulkHolders = 31
	bulkVals    = 127
	bulkText    = 2048
)

// pieces hands out values that lie next to each other.
type pieces[T any] struct {
	free []T
	// size is how many values the last piece had.
	size int
}

// take returns room for some values, in a piece of at most so many.
func (p *pieces[T]) take(n, most int) []T {
	if n > len(p.free) {
		p.size = min(max(n, 2*p.size), most)
		p.free = make([]T, p.size)
	}
	out := p.free[:n:n]
	p.free = p.free[n:]
	return out
}

// object makes an object.
func (b *bulk) object(m Map) *Map {
	if b.depth == 0 {
		alone := m
		return &alone
	}
	out := &b.maps.take(1, bulkHolders)[0]
	*out = m
	return out
}

// list makes an empty list, which is to be filled.
func (b *bulk) list() *List {
	if b.depth == 0 {
		return &List{}
	}
	return &b.lists.take(1, bulkHolders)[0]
}

// values returns room for values.
func (b *bulk) values(n int) []Value {
	if b.depth == 0 || n > bulkVals/4 {
		return make([]Value, n)
	}
	return b.vals.take(n, bulkVals)
}

// string returns the value of a text that stands for itself. fresh counts the texts of the
// place in a row that were not among the last: names are different in every object, so
// where they are many, most are not looked for.
func (b *bulk) string(raw []byte, fresh *uint) Value {
	if b.depth == 0 || len(raw) > bulkText/8 {
		return types.String(raw)
	}
	if *fresh++; *fresh%(8*maxFresh) > maxFresh {
		return b.text(raw)
	}
	at, known := b.place(raw, *fresh)
	if known {
		*fresh = 0
		return *at
	}
	*at = b.text(raw)
	return *at
}

// place returns where a text is among the last, or where it is to be put. There are two
// places for each, which are taken in turns, so that texts that come again and again do not
// drive each other out for long.
func (b *bulk) place(raw []byte, fresh uint) (at *Value, known bool) {
	hash := maphash.Bytes(textSeed, raw)
	at, other := &b.last[hash%uint64(len(b.last))], &b.last[hash>>32%uint64(len(b.last))]
	switch {
	case isString(*at, raw):
		return at, true
	case isString(*other, raw):
		return other, true
	case *at == nil || *other != nil && fresh%2 == 1:
		return at, false
	}
	return other, false
}

// maxFresh is how many texts in a row are looked for although none was found.
const maxFresh = 64

// text makes a text.
func (b *bulk) text(raw []byte) Value {
	if b.texts.Cap()-b.texts.Len() < len(raw) {
		b.textSize = min(max(len(raw), 2*b.textSize), bulkText)
		b.texts = strings.Builder{}
		b.texts.Grow(b.textSize)
	}
	from := b.texts.Len()
	b.texts.Write(raw)
	return types.String(b.texts.String()[from:])
}

// end forgets what is left of the pieces.
func (b *bulk) end() { *b = bulk{} }

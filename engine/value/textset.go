package value

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/google/cel-go/common/types"
)

// manyTexts is from how many items on a list may get a table of the texts in it, and
// fewLookups how many texts are looked for without one: a list of which little is asked
// is not worth it.
const (
	manyTexts  = 16
	fewLookups = 8
)

// lookups is what looking for texts in a list has made.
type lookups struct {
	asked atomic.Int32
	table atomic.Pointer[places]
}

// places finds the texts of a list by their hash: after the place that the hash stands
// for, items are tried up to a free place. It has the index of an item, from 1; 0 is a
// free place. At least half of the places are free.
type places []int32

func placesOf(items []Value) *places {
	size := 1
	for size < 2*len(items) {
		size *= 2
	}
	out := make(places, size)
	for i, item := range items {
		if s, ok := item.(types.String); ok {
			if at, found := out.find(items, s); !found {
				out[at] = int32(i + 1)
			}
		}
	}
	return &out
}

// find returns the place of a text, or the free one where it would be.
func (p places) find(items []Value, s types.String) (at int, found bool) {
	mask := len(p) - 1
	for at = int(maphash.String(textSeed, string(s))) & mask; p[at] != 0; at = (at + 1) & mask {
		if items[p[at]-1] == Value(s) {
			return at, true
		}
	}
	return at, false
}

// Looks is at how many items looking for a value may have to look, as far as the cost of
// it is concerned: at all of them, but for texts no more than at a few. That does not
// depend on whether there is a table yet: what something costs is part of a decision.
func (l *List) Looks(v Value) int {
	if _, text := v.(types.String); text {
		return min(len(l.items), manyTexts)
	}
	return len(l.items)
}

// holds reports whether a text is among many items. Only texts are equal to a text.
func (l *List) holds(s types.String) bool {
	table := l.placesOnce()
	if table == nil {
		return l.has(s)
	}
	_, found := table.find(l.items, s)
	return found
}

// placesOnce returns the table of a list; nil as long as few have asked. When several ask
// at once, each may make one, and the last stays.
func (l *List) placesOnce() *places {
	known := l.looked()
	if table := known.table.Load(); table != nil || known.asked.Add(1) <= fewLookups {
		return table
	}
	table := placesOf(l.items)
	known.table.Store(table)
	return table
}

// looked returns the lookups of a list, which are made for the first one.
func (l *List) looked() *lookups {
	for {
		if known := l.texts.Load(); known != nil {
			return &known.lookups
		}
		l.texts.CompareAndSwap(nil, &texts{})
	}
}

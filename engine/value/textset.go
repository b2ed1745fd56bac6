package value

import (
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
	table atomic.Pointer[textSet]
}

// textSet are the texts among the items of a list.
type textSet map[types.String]struct{}

func textsAmong(items []Value) *textSet {
	out := make(textSet, len(items))
	for _, item := range items {
		if s, ok := item.(types.String); ok {
			out[s] = struct{}{}
		}
	}
	return &out
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
	table := l.textsOnce()
	if table == nil {
		return l.has(s)
	}
	_, found := (*table)[s]
	return found
}

// textsOnce returns the table of a list; nil as long as few have asked. When several ask
// at once, each may make one, and the last stays.
func (l *List) textsOnce() *textSet {
	known := l.looked()
	if table := known.table.Load(); table != nil || known.asked.Add(1) <= fewLookups {
		return table
	}
	table := textsAmong(l.items)
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

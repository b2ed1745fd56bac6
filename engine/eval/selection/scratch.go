package selection

import (
	"sync"

	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// scratch is memory that one run uses and nothing keeps beyond it.
type scratch struct {
	words   pile[uint64]
	numbers pile[int64]
	ids     pile[int32]
	items   pile[tableItem]
	values  pile[value.Value]
	columns direct.Memory
	// named are items by the names of their levels.
	named map[string][]value.Value
	// filling is the column under way.
	filling filling
}

// pile hands out pieces of memory that are zero.
type pile[T any] struct {
	memory []T
	used   int
}

func (p *pile[T]) take(n int) []T {
	if p.used+n > len(p.memory) {
		p.memory, p.used = make([]T, max(2*len(p.memory), n)), 0
	}
	out := p.memory[p.used : p.used+n : p.used+n]
	clear(out)
	p.used += n
	return out
}

// again makes all that was handed out free, and gives up very much of it.
func (p *pile[T]) again() {
	p.used = 0
	if len(p.memory) > maxPile {
		p.memory = nil
	}
}

// maxPile is how much a pile keeps for the next run.
const maxPile = 1 << 18

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// release lets the next run use the memory.
func (s *scratch) release() {
	s.words.again()
	s.numbers.again()
	s.ids.again()
	clear(s.items.memory[:s.items.used]) // they name values
	s.items.again()
	clear(s.values.memory[:s.values.used])
	s.values.again()
	s.columns.Forget()
	clear(s.named)
	s.filling = filling{}
	scratches.Put(s)
}

// names returns an empty map for items by the names of their levels.
func (s *scratch) names() map[string][]value.Value {
	if s.named == nil {
		s.named = map[string][]value.Value{}
	}
	clear(s.named)
	return s.named
}

// set returns an empty set of rows.
func (s *scratch) set(rows int) set { return s.words.take(words(rows)) }

// copy returns a set that may be changed.
func (s *scratch) copy(of set) set {
	out := s.words.take(len(of))
	copy(out, of)
	return out
}

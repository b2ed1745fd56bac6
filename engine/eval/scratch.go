package eval

import "sync"

// scratch is memory that evaluations use one after the other. Nothing in it is used
// when the evaluation has ended.
type scratch struct {
	// locals are cut into parts, one for each frame; the next begins at used.
	locals []local
	// frames are handed out one by one, the next is at framed.
	frames     []frame
	framed     int
	used, most int
	// holders are those that record nothing at the moment, stack those that do.
	holders, stack []*holder
	// columns is memory for columns that is not in use.
	columns []*columnMemory
	// entries are those of a collection while it is put together.
	entries []*entry
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

const (
	// localsAtOnce is how many names get room together.
	localsAtOnce = 128
	framesAtOnce = 64
	// maxLocals and maxRecorded are how much is kept for the next evaluation.
	maxLocals   = 1024
	maxRecorded = 256
)

// room returns an empty list with room for so many names.
func (s *scratch) room(n int) []local {
	if s == nil {
		return make([]local, 0, n)
	}
	if len(s.locals)-s.used < n {
		s.locals, s.used, s.most = make([]local, max(n, localsAtOnce)), 0, 0
	}
	out := s.locals[s.used : s.used : s.used+n]
	s.used += n
	s.most = max(s.most, s.used)
	return out
}

// frame returns an empty frame.
func (ev *evaluation) frame() *frame {
	s := ev.scratch
	if s == nil {
		return &frame{ev: ev}
	}
	if s.framed == len(s.frames) {
		s.frames, s.framed = make([]frame, framesAtOnce), 0
	}
	out := &s.frames[s.framed]
	s.framed++
	out.ev = ev
	return out
}

// mark is how much of the memory was in use.
type mark struct {
	locals       *local
	frames       *frame
	used, framed int
}

// mark returns what is in use now.
func (s *scratch) mark() (out mark) {
	if s == nil {
		return mark{}
	}
	return mark{first(s.locals), first(s.frames), s.used, s.framed}
}

// back makes what was used since a mark free, as far as it is in the memory of then.
func (s *scratch) back(to mark) {
	if s == nil {
		return
	}
	if to.locals == first(s.locals) {
		s.used = to.used
	}
	if to.frames == first(s.frames) {
		clear(s.frames[to.framed:s.framed])
		s.framed = to.framed
	}
}

// first names the memory of a list; nil is none.
func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// holder returns one that has recorded nothing.
func (s *scratch) holder() *holder { return lastOf(&s.holders) }

// lastOf takes the last of those that are free, or makes one.
func lastOf[T any](free *[]*T) *T {
	n := len(*free)
	if n == 0 {
		return new(T)
	}
	out := (*free)[n-1]
	*free = (*free)[:n-1]
	return out
}

// free takes back a holder.
func (s *scratch) free(h *holder) {
	if h.empty(); cap(h.entries) <= maxRecorded && cap(h.wholes) <= maxRecorded {
		s.holders = append(s.holders, h)
	}
}

// release makes all of it free for the next evaluation.
func (s *scratch) release() {
	clear(s.locals[:s.most])
	clear(s.frames[:s.framed])
	s.used, s.most, s.framed = 0, 0, 0
	if len(s.locals) > maxLocals {
		s.locals = nil
	}
	if cap(s.entries) > maxLocals {
		s.entries = nil
	}
	s.stack = s.stack[:0]
	for _, m := range s.columns {
		m.forget()
	}
	scratches.Put(s)
}

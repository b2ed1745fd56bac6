package eval

import (
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// states are what objects are, by their IDs. Most evaluations change few objects: these
// are found without a hash.
type states struct {
	list []state
	// places are those in the list, once it has more than fewStates.
	places map[world.ID]int
}

// state is what an object is; nil is that it is not there any more.
type state struct {
	id    world.ID
	value *value.Map
}

// fewStates is up to how many states are found by going through them.
const fewStates = 8

// of returns what an object is, or nil.
func (s *states) of(id world.ID) *value.Map {
	if at := s.place(id); at >= 0 {
		return s.list[at].value
	}
	return nil
}

// set says what an object is, and returns what it was.
func (s *states) set(id world.ID, v *value.Map) (was *value.Map) {
	if at := s.place(id); at >= 0 {
		was, s.list[at].value = s.list[at].value, v
		return was
	}
	s.list = append(s.list, state{id, v})
	switch n := len(s.list); {
	case s.places != nil:
		s.places[id] = n - 1
	case n > fewStates:
		s.places = make(map[world.ID]int, 2*n)
		for at := range s.list {
			s.places[s.list[at].id] = at
		}
	}
	return nil
}

func (s *states) place(id world.ID) int {
	if s.places != nil {
		if at, ok := s.places[id]; ok {
			return at
		}
		return -1
	}
	for at := range s.list {
		if s.list[at].id == id {
			return at
		}
	}
	return -1
}

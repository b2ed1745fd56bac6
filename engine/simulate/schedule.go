package simulate

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// schedule holds items that are due at a time, each once. Setting, removing and
// finding the first one takes the logarithm of their number: a world of 10,000 keys
// has 10,000 deadlines.
type schedule struct {
	held map[item]*due
	// list is a heap, the earliest first, of one time in their order.
	list dueList
}

// due is an item with its time.
type due struct {
	item item
	at   time.Time
	// place is its index in the heap.
	place int
}

func newSchedule() *schedule { return &schedule{held: map[item]*due{}} }

// set schedules an item, in place of the time that it had.
func (s *schedule) set(i item, at time.Time) {
	if d := s.held[i]; d != nil {
		d.at = at
		heap.Fix(&s.list, d.place)
		return
	}
	d := &due{item: i, at: at}
	s.held[i] = d
	heap.Push(&s.list, d)
}

// add schedules an item for any time.
func (s *schedule) add(i item) { s.set(i, time.Time{}) }

// remove takes an item out, if it is there.
func (s *schedule) remove(i item) {
	if d := s.held[i]; d != nil {
		heap.Remove(&s.list, d.place)
		delete(s.held, i)
	}
}

// first returns the earliest time; zero is none.
func (s *schedule) first() time.Time {
	if len(s.list) == 0 {
		return time.Time{}
	}
	return s.list[0].at
}

// take removes an item that is due at a time and returns it; false when none is.
func (s *schedule) take(now time.Time) (item, bool) {
	if len(s.list) == 0 || s.list[0].at.After(now) {
		return item{}, false
	}
	i := s.list[0].item
	s.remove(i)
	return i, true
}

// all returns the items with their times, by policy and key.
func (s *schedule) all() []due {
	out := make([]due, 0, len(s.list))
	for _, d := range s.list {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b due) int { return compareItems(a.item, b.item) })
	return out
}

func (s *schedule) clear() {
	clear(s.held)
	s.list = nil
}

// dueList implements heap.Interface.
type dueList []*due

func (h dueList) Len() int { return len(h) }

func (h dueList) Less(a, b int) bool {
	return cmp.Or(h[a].at.Compare(h[b].at), compareItems(h[a].item, h[b].item)) < 0
}

func (h dueList) Swap(a, b int) {
	h[a], h[b] = h[b], h[a]
	h[a].place, h[b].place = a, b
}

func (h *dueList) Push(x any) {
	if d, ok := x.(*due); ok {
		d.place = len(*h)
		*h = append(*h, d)
	}
}

func (h *dueList) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return d
}

package simulate

import "container/heap"

// queue holds items to reconcile, each once, and gives them in their order.
type queue struct {
	held  map[item]bool
	items items
}

func newQueue() *queue { return &queue{held: map[item]bool{}} }

func (q *queue) add(i item) {
	if !q.held[i] {
		q.held[i] = true
		heap.Push(&q.items, i)
	}
}

// next removes the first item. There must be one.
func (q *queue) next() item {
	i, _ := heap.Pop(&q.items).(item)
	delete(q.held, i)
	return i
}

// remove takes out the item at an index of items.
func (q *queue) remove(at int) {
	delete(q.held, q.items[at])
	heap.Remove(&q.items, at)
}

func (q *queue) len() int { return len(q.items) }

func (q *queue) clear() {
	clear(q.held)
	q.items = nil
}

// items implements heap.Interface.
type items []item

func (h items) Len() int           { return len(h) }
func (h items) Less(a, b int) bool { return compareItems(h[a], h[b]) < 0 }
func (h items) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }

func (h *items) Push(x any) {
	if i, ok := x.(item); ok {
		*h = append(*h, i)
	}
}

func (h *items) Pop() any {
	last := len(*h) - 1
	i := (*h)[last]
	*h = (*h)[:last]
	return i
}

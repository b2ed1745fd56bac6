package verify

import "slices"

// maxEnds bounds how many ends of a state are told apart.
const maxEnds = 3

// ends are where states end.
type ends struct {
	nodes []*node
	// of are, of each state, some states at rest that decisions lead to, with ends that
	// differ.
	of [][]int
}

func endsOf(nodes []*node) *ends {
	e := &ends{nodes: nodes, of: make([][]int, len(nodes))}
	e.follow()
	return e
}

// follow goes from the states at rest back along the decisions.
func (e *ends) follow() {
	before := make([][]int, len(e.nodes))
	var queue []int
	for at, n := range e.nodes {
		for _, next := range n.next {
			before[next.to] = append(before[next.to], at)
		}
		if n.rests() {
			e.of[at] = []int{at}
			queue = append(queue, at)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, from := range before[at] {
			if e.join(from, e.of[at]) {
				queue = append(queue, from)
			}
		}
	}
}

// join adds the ends that a state does not have yet.
func (e *ends) join(at int, more []int) (added bool) {
	for _, rest := range more {
		if len(e.of[at]) < maxEnds && e.other([]int{rest}, e.of[at]) >= 0 {
			e.of[at], added = append(e.of[at], rest), true
		}
	}
	return added
}

// other returns the first state of a list that ends otherwise than all of another list;
// -1 is none. That nothing is known of the other is no difference.
func (e *ends) other(list, known []int) int {
	for _, rest := range list {
		same := false
		for _, k := range known {
			same = same || e.nodes[k].end == e.nodes[rest].end
		}
		if !same {
			return rest
		}
	}
	return -1
}

// unlike is other for what a crash may not change.
func (e *ends) unlike(list, known []int) int {
	at := slices.IndexFunc(list, func(rest int) bool {
		return !slices.ContainsFunc(known, func(k int) bool { return e.nodes[k].known == e.nodes[rest].known })
	})
	if at < 0 || len(known) == 0 {
		return -1
	}
	return list[at]
}

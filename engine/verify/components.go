package verify

import "slices"

// components returns the sets of states from each of which decisions lead to all others
// of the set, and back (Tarjan's algorithm, without recursion).
func components(nodes []*node) (out [][]int) {
	t := tarjan{nodes: nodes, index: make([]int, len(nodes)), low: make([]int, len(nodes)), on: make([]bool, len(nodes))}
	for at := range nodes {
		if t.index[at] == 0 {
			t.visit(at)
		}
	}
	return t.out
}

type tarjan struct {
	nodes []*node
	// index counts from 1; 0 is a state that was not visited.
	index, low []int
	on         []bool
	stack      []int
	count      int
	out        [][]int
}

type frame struct{ at, edge int }

func (t *tarjan) visit(root int) {
	frames := []frame{t.enter(root)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		edges := t.nodes[f.at].next
		if f.edge == len(edges) {
			at := f.at
			t.leave(at)
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].at
				t.low[up] = min(t.low[up], t.low[at])
			}
			continue
		}
		to := edges[f.edge].to
		f.edge++
		switch {
		case t.index[to] == 0:
			frames = append(frames, t.enter(to))
		case t.on[to]:
			t.low[f.at] = min(t.low[f.at], t.index[to])
		}
	}
}

func (t *tarjan) enter(at int) frame {
	t.count++
	t.index[at], t.low[at], t.on[at] = t.count, t.count, true
	t.stack = append(t.stack, at)
	return frame{at: at}
}

// leave takes a component off the stack, if a state is its root.
func (t *tarjan) leave(at int) {
	if t.low[at] != t.index[at] {
		return
	}
	var set []int
	for {
		last := len(t.stack) - 1
		top := t.stack[last]
		t.stack, t.on[top] = t.stack[:last], false
		set = append(set, top)
		if top == at {
			break
		}
	}
	if len(set) > 1 || slices.ContainsFunc(t.nodes[at].next, func(e edge) bool { return e.to == at }) {
		t.out = append(t.out, set)
	}
}

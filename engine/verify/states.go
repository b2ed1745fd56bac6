package verify

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/simulate"
)

// node is a state that was reached.
type node struct {
	parent int
	// moves lead here from the parent: one that was chosen, and the decisions after it
	// that write nothing.
	moves []Move
	// pending are the keys to decide about, all of which write something.
	pending []simulate.Work
	// sleep are those that need not be decided about here: another way leads to what
	// that would come to. todo are those that are left to be.
	sleep, todo []string
	// changes and clocks count such moves on the way, run the decisions since the last
	// move of another sort.
	changes, clocks, run int
	// next are the states that decisions lead to, lost those that crashes of decisions
	// lead to.
	next []edge
	lost []edge
	// end is what the world ends with, from a state at rest.
	// known is the same without what may be forgotten.
	end, known digest
	done       bool
	// from is the world in which a process began last, on the way here; since are the
	// moves from there.
	from  *simulate.Checkpoint
	since []Move
}

func (n *node) rests() bool { return len(n.pending) == 0 }

// edge is a move that leads to a state.
type edge struct {
	to   int
	move Move
}

// states are those that were reached, and how one leads to another.
type states struct {
	nodes []*node
	seen  map[digest]int
}

// add takes a state that is new.
func (s *states) add(id digest, n *node) (at int) {
	at = len(s.nodes)
	s.nodes, s.seen[id] = append(s.nodes, n), at
	return at
}

// path returns the moves from the start to a state.
func (s *states) path(at int) []Move {
	var parts [][]Move
	for ; at >= 0; at = s.nodes[at].parent {
		parts = append(parts, s.nodes[at].moves)
	}
	slices.Reverse(parts)
	return slices.Concat(parts...)
}

// since notes from where a state is reached again.
func (s *states) since(n *node, a arrival) {
	if a.from != nil {
		n.from, n.since = a.from, n.moves
		if a.move != nil {
			n.since = n.moves[1:]
		}
		return
	}
	parent := s.nodes[a.parent]
	n.from, n.since = parent.from, slices.Concat(parent.since, n.moves)
}

// again takes another way to a state that is known, and reports whether it must be gone
// on from: what was not done there, because another way leads to the same, may have to be
// done now.
func (n *node) again(other *node) bool {
	var woken, still []string
	for _, name := range n.sleep {
		if slices.Contains(other.sleep, name) {
			still = append(still, name)
		} else {
			woken = append(woken, name)
		}
	}
	fewer := other.changes < n.changes || other.changes == n.changes && other.clocks < n.clocks
	if len(woken) == 0 && !fewer {
		return false
	}
	n.sleep = still
	n.todo = append(n.todo, woken...)
	if fewer {
		n.changes, n.clocks, n.done = other.changes, other.clocks, false
	}
	return true
}

// simulated returns a simulation in a state that is known.
func (n *node) simulated(ctx context.Context, o *Options) *simulate.Simulation {
	sim := started(ctx, o.stopped(ctx, n.from))
	for _, m := range n.since {
		m.make(ctx, sim)
	}
	return sim
}

// after is way with the decisions that a state begins with.
func (s *states) after(at, to int) []Move {
	var idle []Move
	if moves := s.nodes[at].moves; len(moves) > 1 {
		idle = moves[1:]
	}
	return append(append([]Move{}, idle...), s.way(at, to)...)
}

// way returns the decisions from a state to another one, by the shortest way.
func (s *states) way(from, to int) []Move {
	type step struct {
		before int
		move   Move
	}
	came := map[int]step{from: {before: -1}}
	queue := []int{from}
	for len(queue) > 0 && queue[0] != to {
		at := queue[0]
		queue = queue[1:]
		for _, e := range s.nodes[at].next {
			if _, ok := came[e.to]; !ok {
				came[e.to] = step{before: at, move: e.move}
				queue = append(queue, e.to)
			}
		}
	}
	var out []Move
	for at := to; came[at].before >= 0; at = came[at].before {
		out = append([]Move{came[at].move}, out...)
	}
	return out
}

// fair reports whether a cycle leaves no key waiting for ever.
func (s *states) fair(ring []int) bool {
	inside := map[int]bool{}
	for _, at := range ring {
		inside[at] = true
	}
	waiting, decided := map[string]int{}, map[string]bool{}
	for _, at := range ring {
		for _, w := range s.nodes[at].pending {
			waiting[w.String()]++
		}
		for _, e := range s.nodes[at].next {
			if inside[e.to] {
				decided[e.move.Decide] = true
			}
		}
	}
	for name, n := range waiting {
		if n == len(ring) && !decided[name] {
			return false
		}
	}
	return true
}

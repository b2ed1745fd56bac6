package verify

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/simulate"
)

// rest looks at a state in which nothing is left to do, and reports whether the search
// goes on.
func (s *search) rest(ctx context.Context, sim *simulate.Simulation, at int) bool {
	s.out.Explored.Rests++
	for _, c := range sim.Group().Controllers() {
		for _, key := range c.Keys() {
			d := eval.Evaluate(ctx, c.Input(key, sim.Now()), nil)
			if !writes(d) && !forgotten(sim, simulate.Work{Policy: c.Policy.Name, Key: key}, d.Next) {
				continue
			}
			s.confirm(ctx, trial{kind: Rest, prefix: s.path(at), suffix: []Move{{Restart: true}}})
			if s.out.Finding != nil {
				return false
			}
		}
	}
	finish(ctx, sim)
	s.nodes[at].end, s.nodes[at].known = endOf(sim.Objects()), endOf(s.remembered(sim.Objects()))
	return true
}

// forgotten reports whether a key is not going to be decided about when its decision
// may change by itself, which is at a time, or never.
func forgotten(sim *simulate.Simulation, w simulate.Work, next time.Time) bool {
	if next.IsZero() {
		return false
	}
	known := false
	sim.Timers(func(other simulate.Work, at time.Time) { known = known || other == w && !at.After(next) })
	return !known
}

// judge looks at all states: whether each of them has one end, which crashes do not
// change, and whether it has any.
func (s *search) judge(ctx context.Context) {
	ends := s.ends()
	for at, n := range s.nodes {
		if len(ends[at]) > 1 && !s.oneMoreAfter(ends, n) {
			for _, rest := range ends[at] {
				s.confirm(ctx, trial{kind: Order, prefix: s.path(at), suffix: s.way(at, rest)})
			}
		}
		for _, e := range n.lost {
			if rest := s.unlike(ends[e.to], ends[at]); rest >= 0 {
				s.confirm(ctx, trial{kind: Crash, prefix: s.path(at), suffix: append([]Move{e.move}, s.after(e.to, rest)...)})
			}
		}
		if s.out.Finding != nil || ctx.Err() != nil {
			return
		}
	}
	s.cycles(ctx)
}

// maxEnds bounds how many ends of a state are told apart.
const maxEnds = 3

// ends returns of each state some states at rest that decisions lead to, with ends that
// differ.
func (s *search) ends() [][]int {
	out := make([][]int, len(s.nodes))
	before := make([][]int, len(s.nodes))
	var queue []int
	for at, n := range s.nodes {
		for _, e := range n.next {
			before[e.to] = append(before[e.to], at)
		}
		if n.rests() {
			out[at] = []int{at}
			queue = append(queue, at)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, from := range before[at] {
			if s.join(&out[from], out[at]) {
				queue = append(queue, from)
			}
		}
	}
	return out
}

// join adds the ends that a list does not have yet.
func (s *search) join(list *[]int, more []int) (added bool) {
	for _, rest := range more {
		if len(*list) < maxEnds && s.other([]int{rest}, *list) >= 0 {
			*list, added = append(*list, rest), true
		}
	}
	return added
}

// other returns the first state of a list that ends otherwise than all of another list;
// -1 is none. That nothing is known of the other is no difference.
func (s *search) other(list, known []int) int {
	for _, rest := range list {
		same := false
		for _, k := range known {
			same = same || s.nodes[k].end == s.nodes[rest].end
		}
		if !same {
			return rest
		}
	}
	return -1
}

// unlike is other for what a crash may not change.
func (s *search) unlike(list, known []int) int {
	at := slices.IndexFunc(list, func(rest int) bool {
		return !slices.ContainsFunc(known, func(k int) bool { return s.nodes[k].known == s.nodes[rest].known })
	})
	if at < 0 || len(known) == 0 {
		return -1
	}
	return list[at]
}

// remembered returns the objects that do not depend on what may be forgotten.
func (s *search) remembered(objects []simulate.Object) []simulate.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o simulate.Object) bool { return s.forgetful[gvkOf(o)] })
}

// oneMoreAfter reports whether a decision leads to a state that still has several ends.
func (s *search) oneMoreAfter(ends [][]int, n *node) bool {
	for _, e := range n.next {
		if len(ends[e.to]) > 1 {
			return true
		}
	}
	return false
}

// after is way with the decisions that a state begins with.
func (s *search) after(at, to int) []Move {
	var idle []Move
	if moves := s.nodes[at].moves; len(moves) > 1 {
		idle = moves[1:]
	}
	return append(append([]Move{}, idle...), s.way(at, to)...)
}

// way returns the decisions from a state to another one, by the shortest way.
func (s *search) way(from, to int) []Move {
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

// cycles looks for decisions that lead back to where they began.
func (s *search) cycles(ctx context.Context) {
	for _, ring := range components(s.nodes) {
		if s.out.Finding != nil || !s.fair(ring) {
			continue
		}
		s.confirm(ctx, trial{kind: Oscillation, prefix: s.path(ring[0])})
	}
}

// fair reports whether a cycle leaves no key waiting for ever.
func (s *search) fair(ring []int) bool {
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

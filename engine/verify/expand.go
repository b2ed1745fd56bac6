package verify

import (
	"context"
	"io"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/simulate"
)

// What moves cost: states that cost less are looked at first.
const (
	costCrash    = 1
	costDeadline = 1
	costChange   = 3
	// costEarly is that of a change while there is something to do.
	costEarly = 2
)

// expand makes all moves from a state.
func (s *search) expand(ctx context.Context, at, cost int) {
	n := s.nodes[at]
	s.decisions(ctx, at, cost)
	if n.done {
		return
	}
	n.done = true
	if n.rests() {
		s.nextDeadline(ctx, at, cost)
	}
	s.restart(ctx, at, cost)
	s.queue.add(cost+costOfChange(n), visit{at: at, changes: true})
}

func costOfChange(n *node) int {
	if n.rests() {
		return costChange
	}
	return costChange + costEarly
}

func (s *search) over(ctx context.Context) bool {
	return s.out.Finding != nil || ctx.Err() != nil || !s.within()
}

// decisions decides about each key, and kills the process after each write.
func (s *search) decisions(ctx context.Context, at, cost int) {
	n := s.nodes[at]
	todo := n.todo
	n.todo = nil
	before := slices.Clone(n.sleep)
	for _, name := range todo {
		if s.over(ctx) {
			return
		}
		sim := s.at(ctx, n)
		wrote := written(sim)
		move := Move{Decide: name}
		move.make(ctx, sim)
		writes := written(sim) - wrote
		sleep := slices.DeleteFunc(slices.Clone(before), func(other string) bool { return !s.apart(name, other) })
		to := s.arrive(ctx, sim, arrival{parent: at, move: &move, changes: n.changes, clocks: n.clocks, run: n.run + 1, sleep: sleep, cost: cost})
		if to < 0 {
			return
		}
		n.next = append(n.next, edge{to, move})
		for after := range writes {
			s.crash(ctx, at, cost, Move{Decide: name, Crash: after + 1})
		}
		before = append(before, name)
	}
}

// crash makes a decision in which the process is killed.
func (s *search) crash(ctx context.Context, at, cost int, move Move) {
	if s.over(ctx) {
		return
	}
	n := s.nodes[at]
	sim := s.at(ctx, n)
	move.make(ctx, sim)
	s.out.Explored.Crashes++
	if to := s.arrive(ctx, sim, arrival{parent: at, move: &move, changes: n.changes, clocks: n.clocks, cost: cost + costCrash, from: sim.Checkpoint()}); to >= 0 {
		n.lost = append(n.lost, edge{to, move})
	}
}

// written counts the writes of a simulation.
func written(sim *simulate.Simulation) (n int) {
	for _, e := range sim.Effects() {
		if e.Verb != eval.VerbEvent {
			n++
		}
	}
	return n
}

// apart reports whether two keys may be decided about in any order.
func (s *search) apart(a, b string) bool {
	return s.commute[[2]string{policyOf(a), policyOf(b)}]
}

func policyOf(name string) string {
	for i := range name {
		if name[i] == ' ' {
			return name[:i]
		}
	}
	return name
}

// nextDeadline moves the clock to the next deadline.
func (s *search) nextDeadline(ctx context.Context, at, cost int) {
	if s.over(ctx) {
		return
	}
	n := s.nodes[at]
	sim := s.at(ctx, n)
	due, ok := sim.Due()
	switch {
	case ok && n.clocks >= maxClocks:
		s.out.Explored.Clock++
	case ok:
		move := Move{Advance: due.Sub(sim.Now())}
		move.make(ctx, sim)
		s.out.Explored.Deadlines++
		s.arrive(ctx, sim, arrival{parent: at, move: &move, changes: n.changes, clocks: n.clocks + 1, cost: cost + costDeadline})
	}
}

// restart kills the process between two decisions: at rest, or when it has something in
// memory that is lost.
func (s *search) restart(ctx context.Context, at, cost int) {
	if s.over(ctx) {
		return
	}
	n := s.nodes[at]
	sim := s.at(ctx, n)
	if !n.rests() && !kept(io.Discard, sim) {
		return
	}
	move := Move{Restart: true}
	move.make(ctx, sim)
	s.out.Explored.Crashes++
	if to := s.arrive(ctx, sim, arrival{parent: at, move: &move, changes: n.changes, clocks: n.clocks, cost: cost + costCrash, from: sim.Checkpoint()}); to >= 0 {
		n.lost = append(n.lost, edge{to, move})
	}
}

// changes makes each change from outside.
func (s *search) changes(ctx context.Context, at, cost int) {
	n := s.nodes[at]
	if s.over(ctx) {
		return
	}
	if n.changes >= s.options.Changes {
		if n.rests() && s.options.Changes > 0 {
			s.out.Explored.Beyond++
		}
		return
	}
	sim := s.at(ctx, n)
	for _, move := range s.alphabet(sim.Objects()) {
		if s.over(ctx) {
			return
		}
		sim := s.at(ctx, n)
		before := stateOf(sim)
		if !move.make(ctx, sim) || stateOf(sim) == before {
			continue
		}
		s.out.Explored.Changes++
		if s.arrive(ctx, sim, arrival{parent: at, move: &move, changes: n.changes + 1, clocks: n.clocks, cost: cost}) < 0 {
			return
		}
	}
}

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

// expanding makes the moves from one state.
type expanding struct {
	search *search
	node   *node
	// at is the state, cost what it costs.
	at, cost int
}

// all makes all moves but the changes from outside, which are made later.
func (e expanding) all(ctx context.Context) {
	e.decisions(ctx)
	if e.node.done {
		return
	}
	e.node.done = true
	if e.node.rests() {
		e.deadline(ctx)
	}
	e.restart(ctx)
	e.search.queue.add(e.cost+costOfChange(e.node), visit{at: e.at, changes: true})
}

func costOfChange(n *node) int {
	if n.rests() {
		return costChange
	}
	return costChange + costEarly
}

// by is how a move leads from the state to another one.
func (e expanding) by(m *Move, cost int) arrival {
	return arrival{parent: e.at, move: m, changes: e.node.changes, clocks: e.node.clocks, cost: e.cost + cost}
}

func (e expanding) simulated(ctx context.Context) *simulate.Simulation {
	return e.node.simulated(ctx, e.search.options)
}

// decisions decides about each key, and kills the process after each write.
func (e expanding) decisions(ctx context.Context) {
	todo := e.node.todo
	e.node.todo = nil
	before := slices.Clone(e.node.sleep)
	for _, name := range todo {
		if e.search.over(ctx) {
			return
		}
		sim := e.simulated(ctx)
		wrote := written(sim)
		move := Move{Decide: name}
		move.make(ctx, sim)
		writes := written(sim) - wrote
		a := e.by(&move, 0)
		a.run = e.node.run + 1
		a.sleep = slices.DeleteFunc(slices.Clone(before), func(other string) bool { return !e.search.commute[[2]string{policyOf(name), policyOf(other)}] })
		to := e.search.arrive(ctx, sim, a)
		if to < 0 {
			continue
		}
		e.node.next = append(e.node.next, edge{to, move})
		for after := range writes {
			e.crash(ctx, Move{Decide: name, Crash: after + 1})
		}
		before = append(before, name)
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

// crash makes a decision in which the process is killed.
func (e expanding) crash(ctx context.Context, move Move) {
	if !e.search.over(ctx) {
		e.lose(ctx, e.simulated(ctx), move)
	}
}

// restart kills the process between two decisions: at rest, or when it has something in
// memory that is lost.
func (e expanding) restart(ctx context.Context) {
	if e.search.over(ctx) {
		return
	}
	if sim := e.simulated(ctx); e.node.rests() || kept(io.Discard, sim) {
		e.lose(ctx, sim, Move{Restart: true})
	}
}

// lose makes a move that kills the process.
func (e expanding) lose(ctx context.Context, sim *simulate.Simulation, move Move) {
	move.make(ctx, sim)
	e.search.out.Explored.Crashes++
	a := e.by(&move, costCrash)
	a.from = sim.Checkpoint()
	if to := e.search.arrive(ctx, sim, a); to >= 0 {
		e.node.lost = append(e.node.lost, edge{to, move})
	}
}

// deadline moves the clock to the next deadline.
func (e expanding) deadline(ctx context.Context) {
	if e.search.over(ctx) {
		return
	}
	sim := e.simulated(ctx)
	due, ok := sim.Due()
	switch {
	case ok && e.node.clocks >= maxClocks:
		e.search.out.Explored.Clock++
	case ok:
		move := Move{Advance: due.Sub(sim.Now())}
		move.make(ctx, sim)
		e.search.out.Explored.Deadlines++
		a := e.by(&move, costDeadline)
		a.clocks++
		e.search.arrive(ctx, sim, a)
	}
}

// changes makes each change from outside.
func (e expanding) changes(ctx context.Context) {
	if e.search.over(ctx) {
		return
	}
	if allowed := e.search.options.Changes; e.node.changes >= allowed {
		if e.node.rests() && allowed > 0 {
			e.search.out.Explored.Beyond++
		}
		return
	}
	for _, move := range e.search.alphabet.moves(e.simulated(ctx).Objects()) {
		if e.search.over(ctx) {
			return
		}
		e.change(ctx, move)
	}
}

// change makes a change from outside.
func (e expanding) change(ctx context.Context, move Move) {
	sim := e.simulated(ctx)
	before := stateOf(sim)
	if !move.make(ctx, sim) || stateOf(sim) == before {
		return
	}
	e.search.out.Explored.Changes++
	a := e.by(&move, 0)
	a.changes++
	e.search.arrive(ctx, sim, a)
}

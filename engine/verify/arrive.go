package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/simulate"
)

// arrival is how a state was reached.
type arrival struct {
	parent               int
	move                 *Move
	changes, clocks, run int
	sleep                []string
	// from is where a process has just begun; nil when it was before.
	from *simulate.Checkpoint
	// cost orders the states.
	cost int
}

// arrive adds the state of a simulation. It returns -1 if the search ends there.
func (s *search) arrive(ctx context.Context, sim *simulate.Simulation, a arrival) int {
	n := &node{parent: a.parent, changes: a.changes, clocks: a.clocks, run: a.run, sleep: a.sleep}
	if a.move != nil {
		n.moves = append(n.moves, *a.move)
		s.out.Explored.Moves++
	}
	n.moves = append(n.moves, idleMoves(ctx, sim)...)
	s.noteFired(sim)
	s.out.Explored.Evaluations += sim.Evaluations()
	if s.failed(ctx, sim, n) {
		return -1
	}
	id := stateOf(sim)
	if at, ok := s.states.seen[id]; ok {
		if s.states.nodes[at].again(n) {
			s.queue.add(a.cost, visit{at: at})
		}
		return at
	}
	n.pending = sim.Pending()
	at := s.states.add(id, n)
	s.states.since(n, a)
	for _, w := range n.pending {
		if name := w.String(); !slices.Contains(n.sleep, name) {
			n.todo = append(n.todo, name)
		} else {
			s.out.Explored.Commuting++
		}
	}
	if n.rests() {
		s.out.Explored.Rests++
		s.judging().rest(ctx, sim, at)
	}
	s.queue.add(a.cost, visit{at: at})
	s.report()
	return at
}

// idleMoves decides about the keys of which the decision writes nothing: in which order is
// all the same.
func idleMoves(ctx context.Context, sim *simulate.Simulation) (moves []Move) {
	for found := true; found; {
		found = false
		for _, w := range sim.Pending() {
			if writes(sim.Controller(w.Policy).Evaluate(ctx, w.Key, sim.Now())) {
				continue
			}
			sim.Decide(ctx, w)
			moves, found = append(moves, Move{Decide: w.String()}), true
		}
		if sim.Ended() != "" || len(sim.Errors()) > 0 || len(moves) > maxRun*20 {
			break
		}
	}
	return moves
}

// writes reports whether a decision changes more than when the key is due.
func writes(d *eval.Decision) bool {
	return len(d.Remember) > 0 || len(d.Debounced) > 0 || slices.ContainsFunc(d.Effects, func(e *eval.Effect) bool { return e.Verb != eval.VerbEvent })
}

func (s *search) noteFired(sim *simulate.Simulation) {
	for policy, rules := range sim.Fired() {
		for rule := range rules {
			s.fired[policy+" "+rule] = true
		}
	}
}

// failed reports whether the search ends at a state because of an unexpected error.
func (s *search) failed(ctx context.Context, sim *simulate.Simulation, n *node) bool {
	message, class := s.options.unexpected(sim)
	if sim.Ended() == "" && message == "" {
		if n.run <= maxRun {
			return false
		}
		n.run = 0
		return s.trials.confirm(ctx, trial{kind: Oscillation, prefix: append(s.states.path(n.parent), n.moves...)})
	}
	t := trial{kind: Failed, prefix: append(s.states.path(n.parent), n.moves...)}
	if sim.Ended() != "" {
		t.kind = Oscillation
	}
	return s.trials.known[class] || s.trials.confirm(ctx, t)
}

// unexpected returns the first unexpected error and its class; both are empty if there is
// none.
func (o *Options) unexpected(sim *simulate.Simulation) (message, class string) {
	for _, e := range sim.Errors() {
		if !slices.ContainsFunc(o.Expected, func(part string) bool { return strings.Contains(e.Message, part) }) {
			return fmt.Sprintf("%s %s: %s", e.Policy, e.Key, e.Message), e.Policy + " " + e.Message
		}
	}
	return "", ""
}

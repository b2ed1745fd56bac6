package verify

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/simulate"
)

// judging looks at the states that were reached for what may be wrong.
type judging struct {
	states *states
	trials *trials
}

// rest checks a state in which no work is left.
func (j judging) rest(ctx context.Context, sim *simulate.Simulation, at int) {
	for _, c := range sim.Group().Controllers() {
		for _, key := range c.Keys() {
			d := eval.Evaluate(ctx, c.Input(key, sim.Now()), nil)
			if !writes(d) && !forgotten(sim, simulate.Work{Policy: c.Policy.ID(), Key: key}, d.Next) {
				continue
			}
			j.trials.confirm(ctx, trial{kind: Rest, prefix: j.states.path(at), suffix: []Move{{Restart: true}}})
		}
	}
	finish(ctx, sim)
	n := j.states.nodes[at]
	n.end, n.known = endOf(sim.Objects()), endOf(j.trials.remembered(sim.Objects()))
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

// all looks at all states: whether each of them has one end, which crashes do not
// change, and whether it has any.
func (j judging) all(ctx context.Context) {
	ends := endsOf(j.states.nodes)
	for at, n := range j.states.nodes {
		if len(ends.of[at]) > 1 && !slices.ContainsFunc(n.next, func(next edge) bool { return len(ends.of[next.to]) > 1 }) {
			for _, rest := range ends.of[at] {
				j.trials.confirm(ctx, trial{kind: Order, prefix: j.states.path(at), suffix: j.states.way(at, rest)})
			}
		}
		for _, e := range n.lost {
			if rest := ends.unlike(ends.of[e.to], ends.of[at]); rest >= 0 {
				j.trials.confirm(ctx, trial{kind: Crash, prefix: j.states.path(at), suffix: append([]Move{e.move}, j.states.after(e.to, rest)...)})
			}
		}
		if j.trials.full() || ctx.Err() != nil {
			return
		}
	}
	j.cycles(ctx)
}

// cycles looks for decisions that lead back to where they began.
func (j judging) cycles(ctx context.Context) {
	for _, ring := range components(j.states.nodes) {
		if !j.states.fair(ring) {
			continue
		}
		j.trials.confirm(ctx, trial{kind: Oscillation, prefix: j.states.path(ring[0])})
	}
}

package verify

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/simulate"
)

// begin returns a simulation whose controllers have just started, and have not decided
// about anything.
func (o *Options) begin(ctx context.Context, objects []simulate.Object) *simulate.Simulation {
	sim := o.stopped(ctx, nil)
	for _, object := range objects {
		sim.Apply(object)
	}
	return started(ctx, sim)
}

// stopped returns a simulation without controllers.
func (o *Options) stopped(ctx context.Context, from *simulate.Checkpoint) *simulate.Simulation {
	return simulate.New(ctx, simulate.Options{
		Policies: o.Policies, Schemas: o.Schemas, Guard: o.Guard, Start: o.Start, Answers: o.Answers, From: from, Stopped: true,
	})
}

// started starts the controllers, which wait for an order.
func started(ctx context.Context, sim *simulate.Simulation) *simulate.Simulation {
	nothing := []string{}
	sim.Fail(simulate.Fault{Order: &nothing})
	sim.Restart(ctx)
	return sim
}

// replay makes moves from the start; false when one of them cannot be made.
func (o *Options) replay(ctx context.Context, objects []simulate.Object, moves []Move) (*simulate.Simulation, bool) {
	sim := o.begin(ctx, objects)
	for _, m := range moves {
		if !m.make(ctx, sim) {
			return sim, false
		}
	}
	return sim, true
}

// maxDeadlines bounds how many deadlines are waited for to see where a world ends.
const maxDeadlines = 8

// settle decides about all that is pending, as it comes.
func settle(ctx context.Context, sim *simulate.Simulation) {
	as := []string{simulate.Others}
	sim.Fail(simulate.Fault{Order: &as})
	sim.Settle(ctx)
}

// finish settles, and waits for the deadlines that come. It returns how long it waited.
func finish(ctx context.Context, sim *simulate.Simulation) time.Duration {
	settle(ctx, sim)
	start := sim.Now()
	for range maxDeadlines {
		at, ok := sim.Due()
		if !ok || sim.Ended() != "" {
			break
		}
		sim.Advance(ctx, at)
	}
	return sim.Now().Sub(start)
}

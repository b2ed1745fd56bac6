package schedules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
)

// judge runs a schedule and says what is wrong with the outcome.
func judge(ctx context.Context, c *scenario, s schedule, p plant) (*bench, error) {
	calm, err := run(ctx, c, s, nothing, false)
	if err != nil {
		return calm, fmt.Errorf("without faults: %w", err)
	}
	b, err := run(ctx, c, s, p, true)
	if err != nil {
		return b, err
	}
	return b, errors.Join(b.lost(), b.bounded(calm, s), b.allowed(), b.deletions(calm), b.same(calm), b.quiet())
}

// lost computes afresh what is still to be written: nothing.
func (b *bench) lost() error {
	sim := simulate.New(b.ctx, simulate.Options{Policies: b.bundle.Policies, Schemas: b.bundle.Schemas, Objects: b.server.List(), Guard: b.guard, Start: b.clock})
	sim.Run(b.ctx, nil, -1)
	for _, e := range sim.Result().Effects {
		if e.Verb != eval.VerbEvent {
			return fmt.Errorf("lost: computed afresh, there is left to write %+v", e)
		}
	}
	return nil
}

// quiet lets every key be reconciled again: nothing is written at rest.
func (b *bench) quiet() error {
	before := len(b.history)
	for _, c := range b.leads.group.Controllers() {
		b.leads.all(c)
	}
	if err := b.rest(); err != nil {
		return err
	}
	if len(b.history) > before {
		return fmt.Errorf("at rest there is a write: %v", b.history[before])
	}
	return nil
}

// bounded holds the number of writes against that without faults: each fault costs
// a few more, and no key is tried again and again.
func (b *bench) bounded(calm *bench, s schedule) error {
	limit := 3*len(calm.history) + 4*(len(s.steps)+b.starts*len(s.objects))
	if len(b.history) > limit {
		return fmt.Errorf("%d writes, of which %d are needed without faults; at most %d are allowed", len(b.history), len(calm.history), limit)
	}
	return nil
}

// allowed wants every write to be one that its policy's accesses name.
func (b *bench) allowed() error {
	for _, r := range b.history {
		if !slices.ContainsFunc(b.accesses[r.policy], func(a plan.Access) bool { return covers(a, r) }) {
			return fmt.Errorf("a stray write: %v", r)
		}
	}
	return nil
}

func covers(a plan.Access, r request) bool {
	return a.GVK == r.target.GVK() && a.Subresource == r.subresource && a.Verb == r.verb &&
		(a.Namespace == "" || a.Namespace == r.target.Namespace()) && (a.Name == "" || a.Name == r.target.Name())
}

// deletions wants nothing to be deleted that is not deleted without faults.
func (b *bench) deletions(calm *bench) error {
	wanted := map[world.ID]bool{}
	for _, r := range calm.history {
		wanted[r.target] = wanted[r.target] || r.verb == "delete"
	}
	for _, r := range b.history {
		if r.verb == "delete" && r.code == 0 && !wanted[r.target] {
			return fmt.Errorf("what nobody wants to be deleted is: %v", r)
		}
	}
	return nil
}

// same wants the same state as without faults.
func (b *bench) same(calm *bench) error {
	if diff := cmp.Diff(calm.state(), b.state()); diff != "" {
		return fmt.Errorf("the faults have changed the outcome (-without +with):\n%s", diff)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edict-dev/edict/test/controlplane"
)

// atRest is how long nothing must have been evaluated and written.
const atRest = 5 * time.Second

func (f *fleet) phases(ctx context.Context, all []phase) error {
	for _, one := range all {
		if err := f.measure(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// sample is the figures of a process that was started at an instant.
type sample struct {
	started time.Time
	figures figures
}

// known returns the figures of the processes that are up.
func (f *fleet) known(ctx context.Context) map[*process]sample {
	out := map[*process]sample{}
	for _, p := range f.processes {
		if now, err := p.figures(ctx); err == nil {
			out[p] = sample{p.started, now}
		}
	}
	return out
}

// measure prints what a phase takes, until the controller is at rest.
func (f *fleet) measure(ctx context.Context, one phase) error {
	fmt.Println(one.name)
	before, plane, began := f.known(ctx), controlplane.Used(), time.Now()
	if err := one.do(ctx); err != nil {
		return err
	}
	least := 0
	if one.starts {
		least = f.sizes.keys()
	}
	r := settling{fleet: f, before: before, least: float64(least)}
	if err := r.wait(ctx); err != nil {
		return err
	}
	r.print(began, controlplane.Used().Minus(plane))
	return nil
}

// settling waits until there were enough evaluations, all shards are held, and nothing has
// happened for a while.
type settling struct {
	*fleet
	before map[*process]sample
	least  float64
	// now is what each process has done since before.
	now         []figures
	first, last time.Time
}

func (r *settling) wait(ctx context.Context) error {
	var seen figures
	for quiet, up := time.Now(), false; !up || time.Since(quiet) < atRest; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		all, err := r.figures(ctx)
		if errors.Is(err, errNotUp) {
			quiet = time.Now()
			continue
		} else if err != nil {
			return err
		}
		r.now = r.done(all)
		sum := total(r.now)
		up = up || sum.evaluations >= r.least && r.held(all) == nil
		if sum.evaluations != seen.evaluations || sum.writes != seen.writes {
			if r.last = time.Now(); r.first.IsZero() {
				r.first = r.last
			}
			quiet, seen = r.last, sum
		}
	}
	return nil
}

// done returns what each process has done since before; one that was started since has
// done all that it says.
func (r *settling) done(all []figures) []figures {
	out := make([]figures, len(all))
	for i, p := range r.processes {
		out[i] = all[i]
		if before, ok := r.before[p]; ok && before.started.Equal(p.started) {
			out[i] = all[i].since(before.figures)
		}
	}
	return out
}

func (r *settling) print(began time.Time, plane controlplane.CPU) {
	sum := total(r.now)
	fmt.Printf("  %.0f evaluations, %.0f writes; %.1f s of CPU, the API server %.1f s, etcd %.1f s; %sat rest after %.1f s; %.0f MiB resident, %.1f KiB for each of %d objects\n",
		sum.evaluations, sum.writes, sum.cpu, plane.APIServer.Seconds(), plane.Etcd.Seconds(), r.begun(began), since(r.last, began),
		sum.resident/(1<<20), sum.resident/1024/float64(r.sizes.objects()), r.sizes.objects())
	if !r.sharing {
		return
	}
	for i, p := range r.processes {
		f := r.now[i]
		fmt.Printf("  %s: %.0f shards, %.0f evaluations, %.0f writes, %.1f s of CPU, %.0f MiB resident\n", p.name, f.shards, f.evaluations, f.writes, f.cpu, f.resident/(1<<20))
	}
}

// begun says when the first evaluation was, after a start: other phases may be over before
// anything is looked at.
func (r *settling) begun(began time.Time) string {
	if r.least == 0 {
		return ""
	}
	return fmt.Sprintf("first after %.1f s, ", since(r.first, began))
}

func since(at, began time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return at.Sub(began).Seconds()
}

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

func (c *controller) phases(ctx context.Context, all []phase) error {
	for _, one := range all {
		if err := c.measure(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// measure prints what a phase takes, until the controller is at rest.
func (c *controller) measure(ctx context.Context, one phase) error {
	fmt.Println(one.name)
	r := settling{controller: c}
	if one.starts {
		r.least = float64(c.sizes.keys())
	} else {
		var err error
		if r.before, err = c.figures(ctx); err != nil {
			return err
		}
	}
	plane, began := controlplane.Used(), time.Now()
	if err := one.do(ctx); err != nil {
		return err
	}
	if err := r.wait(ctx); err != nil {
		return err
	}
	r.print(began, controlplane.Used().Minus(plane))
	return nil
}

// settling waits until there were enough evaluations, and nothing has happened for a while.
type settling struct {
	*controller
	// before are the figures at the beginning; zero if the process starts then.
	before figures
	least  float64
	// now is what was done since.
	now         figures
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
		r.now = all.since(r.before)
		up = up || r.now.evaluations >= r.least
		if r.now.evaluations != seen.evaluations || r.now.writes != seen.writes {
			if r.last = time.Now(); r.first.IsZero() {
				r.first = r.last
			}
			quiet, seen = r.last, r.now
		}
	}
	return nil
}

func (r *settling) print(began time.Time, plane controlplane.CPU) {
	f := r.now
	fmt.Printf("  %.0f evaluations, %.0f writes; %.1f s of CPU, the API server %.1f s, etcd %.1f s; %sat rest after %.1f s; %.0f MiB resident, %.1f KiB for each of %d objects\n",
		f.evaluations, f.writes, f.cpu, plane.APIServer.Seconds(), plane.Etcd.Seconds(), r.begun(began), since(r.last, began),
		f.resident/(1<<20), f.resident/1024/float64(r.sizes.objects()), r.sizes.objects())
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

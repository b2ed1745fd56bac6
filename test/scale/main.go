// Command scale runs the controller on a real control plane with many objects, and
// prints what it takes: the time from a start to the first decision and to rest, what
// heartbeats of Nodes and a change of one pool cost, and memory per object. A scale of
// 1 is 5,000 nodes, 10,000 volume groups, and 10,000 volumes with 30,000 replicas in
// pools of 1,000 nodes; at larger scales there are more pools.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/edict-dev/edict/test/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	scale  float64
	binary string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.Float64Var(&o.scale, "scale", 0.1, "share of the sizes")
	flags.StringVar(&o.binary, "edict", filepath.Join("bin", "edict"), "the program")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.scale <= 0 {
		return o, fmt.Errorf("-scale %v: it has to be above 0", o.scale)
	}
	return o, nil
}

// sizes are how many objects there are.
type sizes struct{ pools, nodes, volumes int }

func sizesOf(scale float64) sizes {
	const largest = 1000 // nodes that a pool may have
	pools := max(5, int(5*scale))
	perPool := min(largest, max(3, int(5*largest*scale)/pools))
	return sizes{pools: pools, nodes: pools * perPool, volumes: max(1, int(10_000*scale))}
}

func (s sizes) perPool() int { return s.nodes / s.pools }

// objects is how many objects of the read model there are: nodes, groups, pools,
// volumes and replicas.
func (s sizes) objects() int { return 3*s.nodes + s.pools + 4*s.volumes }

// keys is how many evaluations a start takes at least: one for each node and volume.
func (s sizes) keys() int { return s.nodes + s.volumes }

func run(ctx context.Context, o options) error {
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { _ = plane.Stop() }()
	if err := plane.InstallCRDs(ctx, filepath.Join("test", "crds")); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "edict-scale")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	w, err := newWorld(plane, sizesOf(o.scale))
	if err != nil {
		return err
	}
	if err := w.fill(ctx); err != nil {
		return fmt.Errorf("the objects cannot be made: %w", err)
	}
	c, err := newController(folder, plane.Kubeconfig(), o, w.sizes)
	if err != nil {
		return err
	}
	defer c.close()
	return c.phases(ctx, phases(w, c))
}

// phase is one thing that is measured.
type phase struct {
	name string
	// starts reports whether the process is started, so that all keys are evaluated.
	starts bool
	do     func(context.Context) error
}

// phases returns what is measured, in order.
func phases(w *world, c *controller) []phase {
	return []phase{
		{"cold: start, and placing all replicas", true, c.start},
		{"start again: all are placed", true, func(ctx context.Context) error {
			if err := w.placed(ctx); err != nil {
				return err
			}
			return c.restart(ctx)
		}},
		{"heartbeats of all nodes", false, w.heartbeats},
		{"one node of a pool changes", false, w.changePool},
	}
}

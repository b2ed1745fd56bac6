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
	scale := flag.Float64("scale", 0.1, "share of the sizes")
	binary := flag.String("edict", filepath.Join("bin", "edict"), "the program")
	flag.Parse()
	if err := run(ctx, *binary, sizesOf(*scale)); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
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

func run(ctx context.Context, binary string, s sizes) error {
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
	w, err := newWorld(plane, s)
	if err != nil {
		return err
	}
	if err := w.fill(ctx); err != nil {
		return fmt.Errorf("the objects cannot be made: %w", err)
	}
	p, err := newProcess(folder, binary, plane.Kubeconfig(), s)
	if err != nil {
		return err
	}
	defer p.close()
	return phases(ctx, w, p)
}

// phases measures one thing after the other.
func phases(ctx context.Context, w *world, p *process) error {
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"cold: start, and placing all replicas", func(ctx context.Context) error { return p.start(ctx) }},
		{"start again: all are placed", func(ctx context.Context) error { return p.restart(ctx) }},
		{"heartbeats of all nodes", w.heartbeats},
		{"one node of a pool changes", w.changePool},
	} {
		if err := p.measure(ctx, phase.name, w.sizes, phase.do); err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return nil
}

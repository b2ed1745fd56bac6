// Command bench measures the engine beside the same work written by hand in
// Go, in one process, and prints both with their ratio.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	if err := measure(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// figure is one measured row.
type figure struct {
	what           string
	ours, byHand   testing.BenchmarkResult
	hasHandwritten bool
}

func measure(ctx context.Context) error {
	if path := os.Getenv("EDICT_BENCH_PROFILE"); path != "" { // of the live part alone
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		return live(ctx)
	}
	if os.Getenv("EDICT_BENCH_RELOAD") != "" { // that part alone
		return reloads(ctx)
	}
	fmt.Printf("one pool, %d nodes, %d volume groups; %s, %d cores\n\n", nodeCount, groupCount, runtime.Version(), runtime.NumCPU())
	e, err := newEdict(ctx)
	if err != nil {
		return err
	}
	e.fill()
	if err := e.settle(); err != nil {
		return err
	}
	p, c, err := byHand()
	if err != nil {
		return err
	}
	handwritten := testing.Benchmark(func(b *testing.B) { benchByHand(b, p, c) })
	figures := []figure{
		{"a node changed: eligible nodes again", testing.Benchmark(func(b *testing.B) { benchNodeChange(b, e) }), handwritten, true},
		{"the same, from nothing (no memory)", testing.Benchmark(func(b *testing.B) { benchFresh(b, e) }), handwritten, true},
		{"nothing changed, evaluated all the same", testing.Benchmark(func(b *testing.B) { benchForced(b, e) }), testing.BenchmarkResult{}, false},
		{"a heartbeat of a node, after decoding", testing.Benchmark(func(b *testing.B) { benchHeartbeat(b, e) }), testing.BenchmarkResult{}, false},
	}
	print(figures)
	if err := memory(ctx); err != nil {
		return err
	}
	if err := placements(ctx); err != nil {
		return err
	}
	if err := reloads(ctx); err != nil {
		return err
	}
	return live(ctx)
}

// placements measures placing three Diskful replicas of a volume, beside the
// same written by hand.
func placements(ctx context.Context) error {
	var figures []figure
	for _, nodes := range placementSizes {
		p, err := newPlacing(ctx, nodes)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("3 replicas, %d nodes x 2 groups", nodes)
		hand := testing.Benchmark(func(b *testing.B) { benchPlaceByHand(b, nodes) })
		figures = append(figures,
			figure{name, testing.Benchmark(func(b *testing.B) { benchPlace(b, p) }), hand, true},
			figure{"... after a node of the pool changed", testing.Benchmark(func(b *testing.B) { benchPlaceChanged(b, p) }), hand, true},
			figure{"... the first volume of a new pool", testing.Benchmark(func(b *testing.B) { benchPlaceFirst(b, p) }), hand, true})
	}
	fmt.Printf("\nplacing the replicas of a volume, answers in process\n\n")
	print(figures)
	return nil
}

func print(figures []figure) {
	t := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "work\tedict\tallocs\tbytes\tby hand\tallocs\tbytes\tby hand / edict\tper second\t")
	for _, f := range figures {
		o := f.ours
		fmt.Fprintf(t, "%s\t%v\t%d\t%d\t", f.what, perOp(o), o.AllocsPerOp(), o.AllocedBytesPerOp())
		if f.hasHandwritten {
			h := f.byHand
			fmt.Fprintf(t, "%v\t%d\t%d\t%.2f\t", perOp(h), h.AllocsPerOp(), h.AllocedBytesPerOp(), float64(h.NsPerOp())/float64(o.NsPerOp()))
		} else {
			fmt.Fprint(t, "-\t-\t-\t-\t")
		}
		fmt.Fprintf(t, "%.0f\t\n", 1e9/float64(o.NsPerOp()))
	}
	if err := t.Flush(); err != nil {
		panic(err)
	}
}

func perOp(r testing.BenchmarkResult) time.Duration {
	return time.Duration(r.NsPerOp()).Round(100 * time.Nanosecond)
}

// memory measures what a Node costs in the read model, and what the whole
// object costs as an informer would keep it.
func memory(ctx context.Context) error {
	e, err := newEdict(ctx)
	if err != nil {
		return err
	}
	ours := held(func() any {
		for i := range nodeCount {
			e.put(reread(node(i, false)))
		}
		return e
	})
	whole := held(func() any {
		list := make([]*unstructured.Unstructured, nodeCount)
		for i := range list {
			list[i] = &unstructured.Unstructured{Object: reread(node(i, false))}
		}
		return list
	})
	fmt.Printf("\nbytes per cached Node: %d, as a whole object %d (%.2f of it)\n", ours/nodeCount, whole/nodeCount, float64(ours)/float64(whole))
	return nil
}

// held returns the bytes that stay in memory with what a function makes.
func held(make func() any) uint64 {
	before := heap()
	kept := make()
	after := heap()
	runtime.KeepAlive(kept)
	return after - before
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

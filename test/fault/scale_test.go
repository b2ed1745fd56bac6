package fault

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// inParallel runs n pieces of work by eight.
func inParallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// costs says what the leader used of the machine.
func (s *stage) costs() (cpu, resident float64) {
	c := s.controllers[0]
	cpu, _ = c.gauge(s.t.Context(), "process_cpu_seconds_total")
	resident, _ = c.gauge(s.t.Context(), "process_resident_memory_bytes")
	return cpu, resident / (1 << 20)
}

// TestBurst (F2): everything changes at once.
func TestBurst(t *testing.T) {
	s := set(t, 1)
	const many = 5000
	inParallel(many, func(i int) { s.must(nil, s.traffic.write(t.Context(), i)) })
	s.converged("all are made", 2*time.Minute)
	before, _ := s.costs()
	began := time.Now()
	inParallel(many, func(i int) { s.must(nil, s.traffic.write(t.Context(), i)) })
	changed := time.Since(began)
	took := s.converged("after the burst", 30*time.Second)
	after, resident := s.costs()
	t.Logf("F2: %d objects changed within %v, written %v later; %.1f s of CPU, %.0f MiB resident", many, changed.Round(100*time.Millisecond), took.Round(100*time.Millisecond), after-before, resident)
	s.judge()
}

// TestColdStart (F3): a controller starts where much is there already.
func TestColdStart(t *testing.T) {
	s := set(t, 1)
	const many = 3000
	inParallel(many, func(i int) { s.must(nil, s.traffic.write(t.Context(), i)) })
	s.converged("all are made", 3*time.Minute)
	c := s.controllers[0]
	c.stop()
	began := time.Now()
	c.start()
	s.eventually("all keys are decided", time.Minute, func(ctx context.Context) string {
		if n, ok := c.gauge(ctx, "edict_evaluations_total"); !ok || n < many+nodeCount {
			return fmt.Sprintf("%v evaluations", n)
		}
		return ""
	})
	took := time.Since(began)
	cpu, resident := s.costs()
	t.Logf("F3: %d objects are decided about %v after the start; %.1f s of CPU, %.0f MiB resident", many+nodeCount, took.Round(100*time.Millisecond), cpu, resident)
	s.judge()
}

// TestIdle (F4): where nothing changes nothing is done.
func TestIdle(t *testing.T) {
	s := set(t, 1)
	before, _ := s.costs()
	writes := len(s.history())
	const quiet = time.Minute
	time.Sleep(quiet)
	after, resident := s.costs()
	t.Logf("F4: %.3f cores and %d writes in a quiet minute, %.0f MiB resident", (after-before)/quiet.Seconds(), len(s.history())-writes, resident)
	if len(s.history()) > writes {
		t.Errorf("%d writes although nothing changed", len(s.history())-writes)
	}
}

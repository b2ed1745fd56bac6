package fault

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// during runs traffic before, while and after something is broken, and wants the
// world to be right again within a bound after it was mended.
func (s *stage) during(fault, mend func(), lasts, outage, within time.Duration) time.Duration {
	s.t.Helper()
	s.traffic.begin()
	time.Sleep(3 * time.Second)
	fault()
	time.Sleep(lasts)
	mend()
	time.Sleep(2 * time.Second)
	s.traffic.end(outage)
	took := s.converged("after the fault", within)
	s.judge()
	return took
}

// TestAPIServerKilled (C1): the API server is killed and comes back.
func TestAPIServerKilled(t *testing.T) {
	s := set(t, 1)
	for _, away := range []time.Duration{2 * time.Second, 20 * time.Second} {
		s.during(func() { s.must(nil, s.plane.StopAPIServer()) }, func() { s.must(nil, s.plane.StartAPIServer(t.Context())) }, away, away+8*time.Second, 40*time.Second)
		if want := map[bool]int{false: 1, true: 2}[away > 10*time.Second]; s.controllers[0].started() != want {
			t.Errorf("away for %v: the controller was started %d times, want %d: without renewing its Lease for 10 seconds it ends", away, s.controllers[0].started(), want)
		}
	}
}

// TestAPIServerHangs (C2): the API server is frozen, and nobody knows.
func TestAPIServerHangs(t *testing.T) {
	s := set(t, 1)
	s.during(func() { s.must(nil, s.plane.PauseAPIServer()) }, func() { s.must(nil, s.plane.ResumeAPIServer()) }, 20*time.Second, 25*time.Second, time.Minute)
}

// TestEtcdKilled (C3): etcd is killed and comes back with its data.
func TestEtcdKilled(t *testing.T) {
	s := set(t, 1)
	s.during(func() { s.must(nil, s.plane.StopEtcd()) }, func() { s.must(nil, s.plane.StartEtcd(t.Context())) }, 5*time.Second, 15*time.Second, 40*time.Second)
}

// TestWatchesCut (C4): watches end every second, in the middle of an event.
func TestWatchesCut(t *testing.T) {
	s := set(t, 1)
	p := s.controllers[0].proxy
	stop := make(chan struct{})
	s.during(func() {
		go func() {
			for ticks := time.NewTicker(time.Second); ; {
				select {
				case <-stop:
					ticks.Stop()
					return
				case <-ticks.C:
					p.cut()
				}
			}
		}()
	}, func() { close(stop) }, 20*time.Second, 0, 20*time.Second)
	if n := p.hits.Load(); n < 30 {
		t.Errorf("VOID: only %d watches were cut", n)
	}
}

// TestWatchesExpired (C5): every watch that goes on is answered that its version
// is gone.
func TestWatchesExpired(t *testing.T) {
	s := set(t, 1)
	p := s.controllers[0].proxy
	s.during(func() { p.set(faults{Expire: true}); p.cut() }, func() { p.set(faults{}) }, 10*time.Second, 0, 30*time.Second)
	if p.hits.Load() == 0 {
		t.Error("VOID: no watch was answered 410")
	}
}

// TestSlowWatcher (C6): the controller is frozen while much changes.
func TestSlowWatcher(t *testing.T) {
	s := set(t, 1)
	c := s.controllers[0]
	s.during(c.freeze, c.thaw, 25*time.Second, 0, 40*time.Second)
}

// TestEtcdRestored (C7): etcd comes back with the data of before, so that
// versions are given a second time.
func TestEtcdRestored(t *testing.T) {
	s := set(t, 1)
	s.must(nil, s.plane.SaveEtcd(t.Context()))
	s.converged("after the copy", time.Minute)
	c := s.controllers[0]
	before := c.started()
	s.during(func() { s.must(nil, s.plane.RestoreEtcd(t.Context())) }, func() {
		s.eventually("the controller notices that versions have gone back, and ends", 30*time.Second, func(context.Context) string {
			return map[bool]string{true: "it runs on"}[c.started() == before]
		})
	}, 5*time.Second, 25*time.Second, time.Minute)
}

// TestAPIServerRefuses (C8): a third of the requests are answered with an error.
func TestAPIServerRefuses(t *testing.T) {
	for _, code := range []int{http.StatusTooManyRequests, http.StatusInternalServerError} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			s := set(t, 1)
			p := s.controllers[0].proxy
			s.during(func() { p.set(faults{Status: code, Share: 0.3}) }, func() { p.set(faults{}) }, 15*time.Second, 0, time.Minute)
			if n := p.hits.Load(); n < 50 {
				t.Errorf("VOID: only %d requests were refused", n)
			}
		})
	}
}

// TestSlowAPIServer (C9): every request takes long, and not equally long.
func TestSlowAPIServer(t *testing.T) {
	s := set(t, 1)
	p := s.controllers[0].proxy
	s.during(func() { p.set(faults{Delay: [2]time.Duration{100 * time.Millisecond, time.Second}}) }, func() { p.set(faults{}) }, 15*time.Second, 0, time.Minute)
	if n := p.hits.Load(); n < 50 {
		t.Errorf("VOID: only %d requests were late", n)
	}
}

// TestConnectionsReset (C10): connections end under requests.
func TestConnectionsReset(t *testing.T) {
	s := set(t, 1)
	p := s.controllers[0].proxy
	stop := make(chan struct{})
	s.during(func() {
		go func() {
			for down := true; ; down = !down {
				p.set(faults{Down: down})
				p.cut()
				select {
				case <-stop:
					p.set(faults{})
					return
				case <-time.After(700 * time.Millisecond):
				}
			}
		}()
	}, func() { close(stop) }, 15*time.Second, 0, 30*time.Second)
}

// TestPartition (C11): the leader loses the API server, the other process does
// not.
func TestPartition(t *testing.T) {
	s := set(t, 2)
	leader, others := s.leader()
	s.traffic.begin()
	time.Sleep(3 * time.Second)
	cutOff := time.Now()
	leader.proxy.set(faults{Down: true})
	leader.proxy.cut()
	s.eventually("another leader", 30*time.Second, func(ctx context.Context) string {
		if others[0].leads(ctx) {
			return ""
		}
		return "nobody else leads"
	})
	t.Logf("another leads %v after the partition", time.Since(cutOff).Round(time.Second))
	time.Sleep(5 * time.Second)
	leader.proxy.set(faults{})
	s.traffic.end(0)
	s.converged("after the partition", 40*time.Second)
	s.judge()
}

package run

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/edict-dev/edict/test/fixture"
)

// elected is one process of an election, which leads.
type elected struct {
	lock *lease
	// cancel ends the election, as a manager does when its process stops.
	cancel func()
	lost   chan struct{}
}

// release ends the work of the process, and then the election.
func (p elected) release() {
	p.lock.busy.Store(false)
	p.cancel()
}

// leases is a server of Leases that does not answer while it is cut off.
type leases struct {
	*fake.Clientset
	cut atomic.Bool
}

func newLeases() *leases {
	l := &leases{Clientset: fake.NewClientset()}
	l.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return l.cut.Load(), nil, errors.New("the API server does not answer")
	})
	return l
}

// elect returns a process that leads.
func (l *leases) elect(t *testing.T, identity string) elected {
	t.Helper()
	e := &Election{Namespace: "ns", Name: "edict", Identity: identity, RenewDeadline: 9 * time.Second}
	if err := e.defaults(); err != nil {
		t.Fatal(err)
	}
	p := elected{lock: e.lock(l.CoordinationV1(), fixture.Log()), lost: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	p.cancel = cancel
	leads := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: p.lock, ReleaseOnCancel: true, LeaseDuration: e.LeaseDuration, RenewDeadline: e.RenewDeadline, RetryPeriod: e.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(leads) }, OnStoppedLeading: func() {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.lost); elector.Run(ctx) }()
	<-leads
	p.lock.busy.Store(true)
	synctest.Wait() // it renews the lease for the first time
	return p
}

// holder returns who holds the lease of the election.
func (l *leases) holder(t *testing.T) string {
	t.Helper()
	got, err := l.CoordinationV1().Leases("ns").Get(t.Context(), "edict", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return *got.Spec.HolderIdentity
}

// give makes another process the holder of the lease.
func (l *leases) give(t *testing.T, to string) {
	t.Helper()
	api := l.CoordinationV1().Leases("ns")
	now, err := api.Get(t.Context(), "edict", metav1.GetOptions{})
	if err == nil {
		now.Spec.HolderIdentity = &to
		_, err = api.Update(t.Context(), now, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestReleaseOfALostLease: a process that has lost its lease without noticing does not
// release the lease of the one that has taken it.
func TestReleaseOfALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases()
		a := l.elect(t, "a")
		l.give(t, "b")
		a.release()
		<-a.lost
		if got := l.holder(t); got != "b" {
			t.Errorf("the lease is held by %q, want b", got)
		}
		l.give(t, "")
		b := l.elect(t, "b")
		b.release()
		<-b.lost
		if got := l.holder(t); got != "" {
			t.Errorf("the lease is held by %q after its release", got)
		}
	})
}

// TestReleaseDuringWork: the lease of a process that did not stop in time is not released, and
// lasts as long as the process may write.
func TestReleaseDuringWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases()
		a := l.elect(t, "a")
		a.cancel()
		<-a.lost
		if got := l.holder(t); got != "a" || a.lock.gate(t.Context()) != nil {
			t.Errorf("the lease is held by %q, and a write: %v", got, a.lock.gate(t.Context()))
		}
		<-time.After(14*time.Second + time.Nanosecond)
		if err := a.lock.gate(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("a second before another process can take the lease, a write: %v", err)
		}
	})
}

// TestLeaseThatCannotBeRenewed: a process that could not renew its lease in time does not
// release it on its own, because it still finishes its work. Once it has released the lease,
// it writes nothing.
func TestLeaseThatCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases()
		mayWrite := func(p elected) bool { return time.Now().Before(p.lock.until()) }
		p := l.elect(t, "a")
		l.cut.Store(true)
		<-time.After(10500 * time.Millisecond) // it tries after 2, 4, 6, 8 and 10 seconds, and gives up after 11
		l.cut.Store(false)
		<-p.lost
		if got := l.holder(t); got != "a" || !mayWrite(p) {
			t.Errorf("while it may write (%v) the lease is held by %q", mayWrite(p), got)
		}
		p = l.elect(t, "a")
		p.release()
		<-p.lost
		if got := l.holder(t); got != "" || mayWrite(p) {
			t.Errorf("it may write (%v) after the release; the lease is held by %q", mayWrite(p), got)
		}
	})
}

// TestOver: a time has passed if either clock says so.
func TestOver(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const step = time.Hour
	for name, tc := range map[string]struct {
		until time.Time
		want  bool
	}{
		"to come, by both clocks":        {now.Add(step), false},
		"passed, by both":                {now.Add(-step), true},
		"to come, by that of the system": {now.Round(0).Add(step), false},
		"passed, by that of the system":  {now.Round(0).Add(-step), true},
		"never renewed":                  {time.Time{}, true},
	} {
		if got := over(tc.until); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

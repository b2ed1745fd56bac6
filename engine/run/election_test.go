package run

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// elected is one process of an election, which leads.
type elected struct {
	lock    *lease
	release func()
	lost    chan struct{}
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
	e, err := Election{Namespace: "ns", Name: "edict", Identity: identity, RenewDeadline: 9 * time.Second}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	lock := e.lockOf(l.CoordinationV1(), "edict")
	leads, lost, release, err := e.elect(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	<-leads
	synctest.Wait() // it renews the lease for the first time
	return elected{lock, release, lost}
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

// TestLeaseThatCannotBeRenewed: a process that could not renew its lease in time does not
// release it on its own, because it still finishes its work. Once it has released the lease,
// it writes nothing.
func TestLeaseThatCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases()
		mayWrite := func(p elected) bool { return time.Now().Before(p.lock.until(15 * time.Second)) }
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

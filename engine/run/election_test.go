package run

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// elected is one process of an election, which leads.
type elected struct {
	lock    *lease
	release func()
	lost    chan struct{}
}

// elect returns a process that leads; of others it knows whether they write no more.
func elect(t *testing.T, client leaseClient, identity string, othersDead bool) elected {
	t.Helper()
	e, err := Election{Namespace: "ns", Name: "edict", Identity: identity, RenewDeadline: 9 * time.Second}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	lock := e.lockOf(client, "edict")
	lock.dead = func(_ context.Context, other string) bool { return othersDead && other != identity }
	leads, lost, release, err := e.elect(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	<-leads
	synctest.Wait() // it renews the lease for the first time
	return elected{lock, release, lost}
}

// holder returns who holds the lease of an election.
func (c leaseClient) holder(t *testing.T) string {
	t.Helper()
	l, err := c.Get(t.Context(), "edict", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return *l.Spec.HolderIdentity
}

// TestReleaseOfALostLease: a process that has lost its lease without noticing does not
// release the lease of the one that has taken it.
func TestReleaseOfALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := leaseClient{server: &leaseServer{leases: map[string]*coordination.Lease{}}, cut: none}
		a := elect(t, client, "a", false)
		b := elect(t, client, "b", true) // which takes a for dead
		a.release()
		<-a.lost
		if got := client.holder(t); got != "b" {
			t.Errorf("the lease is held by %q, want b", got)
		}
		b.release()
		<-b.lost
		if got := client.holder(t); got != "" {
			t.Errorf("the lease is held by %q after its release", got)
		}
	})
}

// TestLeaseThatCannotBeRenewed: a process that could not renew its lease in time does not
// release it on its own, because it still finishes its work. Once it has released the lease,
// it writes nothing.
func TestLeaseThatCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var isCut atomic.Bool
		client := leaseClient{server: &leaseServer{leases: map[string]*coordination.Lease{}}, cut: func(string) bool { return isCut.Load() }}
		mayWrite := func(p elected) bool { return time.Now().Before(p.lock.until(15 * time.Second)) }
		p := elect(t, client, "a", false)
		isCut.Store(true)
		<-time.After(10500 * time.Millisecond) // it tries after 2, 4, 6, 8 and 10 seconds, and gives up after 11
		isCut.Store(false)
		<-p.lost
		if got := client.holder(t); got != "a" || !mayWrite(p) {
			t.Errorf("while it may write (%v) the lease is held by %q", mayWrite(p), got)
		}
		p = elect(t, client, "a", false)
		p.release()
		<-p.lost
		if got := client.holder(t); got != "" || mayWrite(p) {
			t.Errorf("it may write (%v) after the release; the lease is held by %q", mayWrite(p), got)
		}
	})
}

// TestBeatsOfProcesses: a process announces itself otherwise than an earlier one of the
// same identity did, for others that have seen only that one.
func TestBeatsOfProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		said := map[string]bool{}
		for range 3 {
			r := f.start("a", 1)
			synctest.Wait()
			text := r.roster.Self.Text()
			if said[text] {
				t.Errorf("two processes said %s", text)
			}
			said[text] = true
			r.cancel()
			<-r.done
			f.pass(time.Second)
		}
	})
}

package run

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestReleaseOfALostLease: a process that has lost its lease without noticing does not
// release the lease of the one that has taken it.
func TestReleaseOfALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &leaseServer{leases: map[string]*coordination.Lease{}}
		client := leaseClient{server: server, cut: none}
		begin := func(identity string, dead bool) (release func(), lost chan struct{}) {
			e, err := Election{Namespace: "ns", Name: "edict", Identity: identity}.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			lock := e.lockOf(client, "edict")
			lock.dead = func(_ context.Context, other string) bool { return dead && other != identity }
			leads, lost, release, err := e.elect(t.Context(), lock)
			if err != nil {
				t.Fatal(err)
			}
			<-leads
			return release, lost
		}
		holder := func() string {
			l, err := client.Get(t.Context(), "edict", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return *l.Spec.HolderIdentity
		}
		releaseA, lostA := begin("a", false)
		releaseB, lostB := begin("b", true) // which takes a for dead
		releaseA()
		<-lostA
		if got := holder(); got != "b" {
			t.Errorf("the lease is held by %q, want b", got)
		}
		releaseB()
		<-lostB
		if got := holder(); got != "" {
			t.Errorf("the lease is held by %q after its release", got)
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

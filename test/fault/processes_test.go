package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestLeaderKilled (D1): the leader is killed again and again, and starts again.
func TestLeaderKilled(t *testing.T) {
	s := set(t, 2)
	s.traffic.begin()
	for i := range 5 {
		leader, others := s.leader()
		leader.kill()
		took := s.eventually("another leader", 25*time.Second, leadsNow(others[0]))
		t.Logf("kill %d: taken over after %v", i+1, took.Round(100*time.Millisecond))
		leader.start()
	}
	s.traffic.end(0)
	s.converged("after the kills", 40*time.Second)
	s.judge()
}

func leadsNow(c *controller) func(context.Context) string {
	return func(ctx context.Context) string {
		if c.leads(ctx) {
			return ""
		}
		return c.proxy.Name + " does not lead"
	}
}

// TestLeaderStopped (D2): the leader is stopped as in a roll-out.
func TestLeaderStopped(t *testing.T) {
	s := set(t, 2)
	s.traffic.begin()
	for i := range 5 {
		leader, others := s.leader()
		took := leader.stop()
		over := s.eventually("another leader", 5*time.Second, leadsNow(others[0]))
		t.Logf("stop %d: it took %v, and %v until another led", i+1, took.Round(100*time.Millisecond), over.Round(100*time.Millisecond))
		if took > 25*time.Second {
			t.Errorf("a stop took %v", took)
		}
		leader.start()
	}
	s.traffic.end(0)
	s.converged("after the stops", 30*time.Second)
	s.judge()
}

// TestLeaderFrozen (D3): the leader is frozen for longer than its lease, and
// wakes believing that it leads.
func TestLeaderFrozen(t *testing.T) {
	s := set(t, 2)
	s.traffic.begin()
	leader, others := s.leader()
	leader.freeze()
	s.eventually("another leader", 40*time.Second, leadsNow(others[0]))
	time.Sleep(5 * time.Second)
	woken := time.Now()
	leader.thaw()
	time.Sleep(5 * time.Second)
	s.traffic.end(0)
	for _, r := range s.history() {
		if r.by() == leader.proxy.Name && r.At.After(woken) && r.Response.Code < 300 {
			t.Errorf("the woken leader wrote %v", r)
		}
	}
	s.converged("after the freeze", 30*time.Second)
	s.judge()
}

// TestHotObject (D6): eight others write one object, many times a second.
func TestHotObject(t *testing.T) {
	s := set(t, 1)
	stop := make(chan struct{})
	var changes atomic.Int64
	done := make(chan struct{}, 8)
	for w := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(160 * time.Millisecond):
				}
				body := fmt.Appendf(nil, `{"metadata":{"annotations":{"writer-%d":"%d"}}}`, w, i)
				if _, err := s.client.Resource(nodes).Patch(t.Context(), "n000", types.MergePatchType, body, metav1.PatchOptions{}); err == nil {
					changes.Add(1)
				}
			}
		}()
	}
	s.during(func() {
		for range 10 { // so that there is something to write
			s.must(nil, s.traffic.node(t.Context(), 0))
			time.Sleep(time.Second)
		}
	}, func() { close(stop) }, 5*time.Second, 0, 10*time.Second)
	for range 8 {
		<-done
	}
	if n := changes.Load(); n < 300 {
		t.Errorf("VOID: only %d changes of the object", n)
	}
	written, conflicts := 0, 0
	for _, r := range s.history() {
		if r.Object.Resource == "nodes" && r.Object.Name == "n000" {
			written++
			if r.Response.Code == 409 {
				conflicts++
			}
		}
	}
	t.Logf("D6: %d changes by others, %d writes, of which %d met a conflict", changes.Load(), written, conflicts)
	made := written - conflicts
	if made < 3 {
		t.Errorf("VOID: only %d writes were needed", made)
	}
	if conflicts > 5*made {
		t.Errorf("%d of %d writes met a conflict, more than five for each that was made", conflicts, written)
	}
}

// TestWatchBehind (D8): the watch of one kind is two seconds behind the others.
func TestWatchBehind(t *testing.T) {
	for _, resource := range []string{"configmaps", "nodes"} {
		t.Run(resource, func(t *testing.T) {
			s := set(t, 1)
			p := s.controllers[0].proxy
			before := len(s.history())
			s.traffic.begin()
			p.set(faults{Late: map[string]time.Duration{resource: 2 * time.Second}})
			p.cut() // the watches that are opened now are late
			time.Sleep(20 * time.Second)
			s.traffic.end(0)
			p.set(faults{})
			p.cut()
			s.converged("after the delay", 30*time.Second)
			s.judge()
			s.noRepeats(before)
		})
	}
}

// noRepeats wants no write to be sent again that has changed nothing: an object
// is written as often as it changes.
func (s *stage) noRepeats(from int) {
	s.t.Helper()
	writes := s.history()[from:]
	ok := 0
	for _, r := range writes {
		if r.Response.Code < 300 {
			ok++
		}
	}
	// A change leads to two writes at most: the copy and a label or a finalizer; one
	// of a node to those of all copies in two zones.
	if most := int(s.traffic.done.Load()) * (2 + 2*mapCount/zoneCount/5); ok > most {
		s.t.Errorf("%d writes for %d changes, at most %d are needed", ok, s.traffic.done.Load(), most)
	}
}

// TestKilledAfterEachWrite (D9): the process is killed after its k-th write, for
// every k, before it gets the answer.
func TestKilledAfterEachWrite(t *testing.T) {
	s := set(t, 1)
	c := s.controllers[0]
	for k := int64(1); k <= 12; k++ {
		began := c.proxy.writes.Load()
		died := make(chan struct{})
		c.proxy.set(faults{AfterWrite: func(n int64) {
			if n == began+k {
				_ = c.end().Kill()
				close(died)
			}
		}})
		for m := range 20 {
			if m%4 == 0 {
				s.must(nil, s.traffic.remove(t.Context(), m))
			}
			s.must(nil, s.traffic.write(t.Context(), m+int(k)))
		}
		select {
		case <-died:
		case <-time.After(45 * time.Second):
			t.Fatalf("VOID: it was not killed after write %d", k)
		}
		<-c.gone
		c.proxy.set(faults{})
		c.start()
		s.converged(fmt.Sprintf("after a kill behind write %d", k), 45*time.Second)
	}
	s.judge()
}

// TestDowntime (D10): nobody runs while much changes and much is deleted.
func TestDowntime(t *testing.T) {
	s := set(t, 1)
	c := s.controllers[0]
	c.stop()
	for i := range 2000 {
		s.must(nil, s.traffic.write(t.Context(), i%(2*mapCount)))
		if i%10 == 0 {
			s.must(nil, s.traffic.remove(t.Context(), i/10))
		}
		if i%40 == 0 {
			s.must(nil, s.traffic.node(t.Context(), i/40%nodeCount))
		}
	}
	c.start()
	took := s.converged("after the downtime", 45*time.Second)
	t.Logf("2,250 changes were caught up with in %v", took)
	s.judge()
}

// TestPermissionRevoked (C12): a permission is taken away and given back; the
// policy that needs it says so, the other goes on.
func TestPermissionRevoked(t *testing.T) {
	s := set(t, 1)
	s.grant("edict", "nodes", "configmaps", "leases", "events", "namespaces")
	c := s.controllers[0]
	c.proxy.set(faults{User: "edict"})
	c.proxy.cut()
	s.converged("with the permissions", time.Minute)
	s.traffic.begin()
	s.grant("edict", "configmaps", "leases", "events", "namespaces") // without nodes
	time.Sleep(10 * time.Second)
	log := s.eventually("a word about the permission", 30*time.Second, func(context.Context) string {
		if c.says("the policy writes nothing") {
			return ""
		}
		return "the log says nothing"
	})
	t.Logf("told after %v", log.Round(time.Second))
	s.grant("edict", "nodes", "configmaps", "leases", "events", "namespaces")
	s.traffic.end(0)
	s.converged("after the permission is back", 60*time.Second)
	s.judge()
}

// grant returns the user edict all verbs on resources, and nothing else.
func (s *stage) grant(name string, resources ...string) {
	s.t.Helper()
	role := object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": object{"name": name}, "rules": []any{
		object{"apiGroups": []any{"*"}, "resources": anys(resources), "verbs": []any{"*"}},
	}}
	binding := object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": object{"name": name},
		"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
		"subjects": []any{object{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "edict"}}}
	for resource, o := range map[string]object{"clusterroles": role, "clusterrolebindings": binding} {
		text, err := json.Marshal(o)
		s.must(nil, err)
		force := true
		s.must(s.client.Resource(kschema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: resource}).Patch(s.t.Context(), name, types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: "fault", Force: &force}))
	}
}

func anys(list []string) (out []any) {
	for _, one := range list {
		out = append(out, one)
	}
	return out
}

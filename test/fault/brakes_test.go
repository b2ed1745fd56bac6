package fault

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/test/extender"
)

// rival is another writer of a label of a node.
type rival struct {
	// changes counts how often it has set the label back.
	changes atomic.Int64
	stop    context.CancelFunc
	done    chan struct{}
}

// rival sets a label of a node back at once, whenever it is another, until it is
// stopped.
func (s *stage) rival(node, label, to string) *rival {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r := &rival{stop: cancel, done: make(chan struct{})}
	body := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, label, to)
	go func() {
		defer close(r.done)
		for ctx.Err() == nil {
			events, err := s.client.Resource(nodes).Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: node}))
			if err != nil {
				continue
			}
			for e := range events.ResultChan() {
				o, ok := e.Object.(*unstructured.Unstructured)
				if !ok || o.GetLabels()[label] == to {
					continue
				}
				if _, err := s.client.Resource(nodes).Patch(ctx, node, types.MergePatchType, body, metav1.PatchOptions{}); err == nil {
					r.changes.Add(1)
				}
			}
		}
	}()
	return r
}

// end stops the rival. A run in which it did too little is void.
func (r *rival) end(t *testing.T, least int64) {
	t.Helper()
	r.stop()
	<-r.done
	n := r.changes.Load()
	if n < least {
		t.Fatalf("VOID: the other writer has set the field back %d times, at least %d are needed", n, least)
	}
	t.Logf("the other writer has set the field back %d times", n)
}

// pace is how many writes there may be of one object by a policy within a time: 30 at
// once, and then one a second.
func pace(lasted time.Duration) int { return 31 + int(lasted.Seconds()) }

// paced wants the writes of policies about a node to keep their pace for a minute, and what
// other policies do to go on. The policies have begun at an instant. It returns the writes
// of the first one.
func (s *stage) paced(began time.Time, node string, policies ...string) (first int) {
	s.t.Helper()
	s.traffic.begin()
	time.Sleep(time.Minute)
	s.traffic.end(0)
	s.converged("while it is at its pace", 20*time.Second)
	for i, policy := range policies {
		writes := s.writesOf(policy, node)
		if i == 0 {
			first = len(writes)
		}
		s.t.Logf("%s: %d writes in %v", policy, len(writes), time.Since(began).Round(time.Second))
		if len(writes) < paceBurst {
			s.t.Fatalf("VOID: only %d writes of %s", len(writes), policy)
		}
		for n, w := range writes {
			if most := pace(w.At.Sub(writes[0].At)); n+1 > most {
				s.t.Errorf("%s: %d writes within %v, at most %d are promised", policy, n+1, w.At.Sub(writes[0].At), most)
				break
			}
		}
		s.ready(policy, 10*time.Second)
	}
	return first
}

// paceBurst is how many writes at once are not delayed.
const paceBurst = 30

// TestFoughtField (D5): another writer sets a field back at once. It is written 30 times
// and then once a second; after the fight it is as the policy says.
func TestFoughtField(t *testing.T) {
	s := setScene(t, scene{controllers: 1, sets: true})
	s.idleNode("fought")
	s.policy("owner", nodeRule("owner", "fought", "labels: {set: {owner: edict}}"))
	s.ready("owner", 30*time.Second)
	s.eventually("the label", 10*time.Second, s.label("fought", "owner", "edict"))
	began := time.Now()
	other := s.rival("fought", "owner", "somebody")
	writes := s.paced(began, "fought", "owner")
	other.end(t, paceBurst)
	s.eventually("the label after the fight", 20*time.Second, s.label("fought", "owner", "edict"))
	t.Logf("D5: %d writes in a fight of a minute", writes)
	s.judge()
}

// label waits for a label of a node; "" is for none.
func (s *stage) label(node, label, want string) func(context.Context) string {
	return func(ctx context.Context) string {
		found, err := s.client.Resource(nodes).Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if got := found.GetLabels()[label]; got != want {
			return fmt.Sprintf("it is %q and should be %q", got, want)
		}
		return ""
	}
}

// TestPoliciesFight (D5, D7): of two policies one undoes what the other does. Both keep
// their pace, and what one wants comes to be when the other is gone.
func TestPoliciesFight(t *testing.T) {
	for name, second := range map[string]string{"other value": "labels: {set: {owner: b}}", "removed": "labels: {set: {owner: null}}"} {
		t.Run(name, func(t *testing.T) {
			// Removals have a limit of their own, which would end the fight.
			s := setScene(t, scene{controllers: 1, sets: true, args: []string{"--default-removal-limit", "none"}})
			s.idleNode("fought")
			began := time.Now()
			s.policy("one", nodeRule("one", "fought", "labels: {set: {owner: a}}"))
			s.policy("two", nodeRule("two", "fought", second))
			writes := s.paced(began, "fought", "one", "two")
			s.must(nil, s.client.Resource(policySets).Namespace(home).Delete(t.Context(), "two", metav1.DeleteOptions{}))
			s.eventually("the label", 20*time.Second, s.label("fought", "owner", "a"))
			t.Logf("D5, D7: %d writes of one of them", writes)
			s.judge()
		})
	}
}

// TestOwnInput (D7): a policy whose result is its own input keeps its pace.
func TestOwnInput(t *testing.T) {
	s := setScene(t, scene{controllers: 1, sets: true})
	s.idleNode("counted")
	began := time.Now()
	s.policy("counter", nodeRule("counter", "counted", `annotations: {set: {n: '${string(int(object.metadata.?annotations[?"n"].orValue("0")) + 1)}'}}`))
	s.paced(began, "counted", "counter")
	s.gone("counter")
	s.judge()
}

// gone deletes the set of a policy that would never come to rest.
func (s *stage) gone(policy string) {
	s.t.Helper()
	s.must(nil, s.client.Resource(policySets).Namespace(home).Delete(s.t.Context(), policy, metav1.DeleteOptions{}))
	time.Sleep(time.Second)
}

// TestExtenderFlips (E4): the extender prefers another pool each time, so that a
// policy that asks it with its last choice never comes to rest. It keeps its pace.
func TestExtenderFlips(t *testing.T) {
	running, err := extender.ListenTLS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Close() })
	if err := running.Server.SetFault(extender.Fault{Mode: extender.Flip}); err != nil {
		t.Fatal(err)
	}
	s := setScene(t, scene{controllers: 1, sets: true, args: []string{
		"--extender-url", running.URL, "--extender-ca-file", running.CAFile, "--extender-cert-file", running.ClientCertFile, "--extender-key-file", running.ClientKeyFile,
	}})
	s.idleNode("placed")
	began := time.Now()
	s.policy("place", nodeRule("place", "placed", `select:
            candidates: [{as: group, in: '[{"name": "a"}, {"name": "b"}]'}]
            pipeline:
              - call: extender.filterAndScore
                name: no capacity
                with: {reservationID: "${key.name}-${object.metadata.?annotations[?'place'].orValue('')}", ttl: "${duration(\"10s\")}", size: "${1}"}
                candidate: {name: "${group.name}"}
            orderBy: [group.name]
            then: [{annotations: {set: {place: "${group.name}"}}}]`))
	s.paced(began, "placed", "place")
	s.gone("place")
	s.judge()
	asked := running.Server.State().Requests[extender.FilterAndScore]
	t.Logf("E4: the extender was asked %d times", asked)
	if asked < 10 {
		t.Errorf("VOID: the extender was asked %d times", asked)
	}
}

package fault

import (
	"context"
	"fmt"
	"os/exec"
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

// TestFoughtField (D5): another writer sets a field back at once. It is written at
// most once in ten seconds after five times, that is told, and no longer a while
// after the fight; what other policies do goes on.
func TestFoughtField(t *testing.T) {
	s := setScene(t, scene{controllers: 1, configMaps: true})
	s.idleNode("fought")
	s.policy("owner", nodeRule("owner", "fought", "labels: {set: {owner: edict}}"))
	s.note("owner", "status", "Active", 30*time.Second)
	s.eventually("the label", 10*time.Second, s.label("fought", "owner", "edict"))
	s.traffic.begin()
	other := s.rival("fought", "owner", "somebody")
	told := s.note("owner", "status", "Contested", 30*time.Second)
	s.note("owner", "error", "metadata.labels.owner of Node fought", 10*time.Second)
	time.Sleep(time.Minute)
	other.end(t, 8)
	s.traffic.end(0)
	s.converged("during the fight", 20*time.Second)
	writes := s.writesOf("owner", "fought")
	const atOnce = 7 // the first of all, five of the fight, and one more that was under way
	for i := atOnce; i < len(writes); i++ {
		if apart := writes[i].At.Sub(writes[i-1].At); apart < 9*time.Second {
			t.Errorf("writes %d and %d are %v apart", i, i+1, apart)
		}
	}
	s.eventually("the label after the fight", 20*time.Second, s.label("fought", "owner", "edict"))
	clear := s.note("owner", "status", "Active", 2*time.Minute)
	t.Logf("D5: told after %v, %d writes in a fight of a minute, no longer contested %v after it", told.Round(time.Second), len(writes), clear.Round(time.Second))
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

// TestPoliciesFight (D5, D7): of two policies one undoes what the other does. Both
// rules are paused after a few writes, that is told with rules and field, and a
// resumed one goes on when the other is gone.
func TestPoliciesFight(t *testing.T) {
	for name, second := range map[string]string{"other value": "labels: {set: {owner: b}}", "removed": "labels: {set: {owner: null}}"} {
		t.Run(name, func(t *testing.T) {
			s := setScene(t, scene{controllers: 1, configMaps: true})
			s.idleNode("fought")
			s.traffic.begin()
			s.policy("one", nodeRule("one", "fought", "labels: {set: {owner: a}}"))
			s.policy("two", nodeRule("two", "fought", second))
			told := s.note("one", "status", "Paused", 30*time.Second)
			s.note("two", "status", "Paused", 10*time.Second)
			for _, part := range []string{ruleOf("one"), ruleOf("two"), "metadata.labels.owner of Node fought"} {
				s.note("one", "error", part, 5*time.Second)
			}
			paused := len(s.writesOf("one", "fought")) + len(s.writesOf("two", "fought"))
			time.Sleep(20 * time.Second)
			after := len(s.writesOf("one", "fought")) + len(s.writesOf("two", "fought"))
			if paused < 5 {
				t.Fatalf("VOID: %d writes were no fight", paused)
			}
			if after > 20 || after > paused {
				t.Errorf("%d writes until both were paused, %d after 20 more seconds", paused, after)
			}
			s.must(nil, s.client.Resource(configMaps).Namespace(home).Delete(t.Context(), "two", metav1.DeleteOptions{}))
			s.edict("resume", "one")
			s.note("one", "status", "Active", 20*time.Second)
			s.eventually("the label", 20*time.Second, s.label("fought", "owner", "a"))
			s.traffic.end(0)
			s.converged("after the fight", 20*time.Second)
			t.Logf("D5, D7: paused after %v and %d writes", told.Round(100*time.Millisecond), paused)
			s.judge()
		})
	}
}

// slows wants a policy to be slowed down about a node, and told of, and what other
// policies do to go on.
func (s *stage) slows(policy, node, field string) {
	s.t.Helper()
	s.traffic.begin()
	told := s.note(policy, "status", "Degraded", 30*time.Second)
	for _, part := range []string{ruleOf(policy), field + " of Node " + node} {
		s.note(policy, "error", part, 5*time.Second)
	}
	at := time.Now()
	time.Sleep(time.Minute)
	first := len(s.writesOf(policy, node))
	time.Sleep(time.Minute)
	second := len(s.writesOf(policy, node)) - first
	s.traffic.end(0)
	s.converged("while it is slowed down", 20*time.Second)
	s.t.Logf("slowed down after %v; %d writes until a minute later, and %d within the next minute", told.Round(100*time.Millisecond), first, second)
	if first < 10 {
		s.t.Fatalf("VOID: only %d writes", first)
	}
	// Thirty that led to each other, then after 1, 2, 4, 8 and 16 s, then 30.
	if first > 40 || second > 3 {
		s.t.Errorf("%d writes until a minute after %v, %d within the next minute: at most 40 and 3 are promised", first, at.Format(time.TimeOnly), second)
	}
	s.must(nil, s.client.Resource(configMaps).Namespace(home).Delete(s.t.Context(), policy, metav1.DeleteOptions{}))
	time.Sleep(time.Second)
	s.judge()
}

// TestOwnInput (D7): a policy whose result is its own input is slowed down.
func TestOwnInput(t *testing.T) {
	s := setScene(t, scene{controllers: 1, configMaps: true})
	s.idleNode("counted")
	s.policy("counter", nodeRule("counter", "counted", `annotations: {set: {n: '${string(int(object.metadata.?annotations[?"n"].orValue("0")) + 1)}'}}`))
	s.slows("counter", "counted", "metadata.annotations.n")
}

// TestExtenderFlips (E4): the extender prefers another pool each time, so that a
// policy that asks it with its last choice never comes to rest. It is slowed down.
func TestExtenderFlips(t *testing.T) {
	running, err := extender.ListenTLS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Close() })
	if err := running.Server.SetFault(extender.Fault{Mode: extender.Flip}); err != nil {
		t.Fatal(err)
	}
	s := setScene(t, scene{controllers: 1, configMaps: true, args: []string{
		"--extender-url", running.URL, "--extender-ca-file", running.CAFile, "--extender-cert-file", running.ClientCertFile, "--extender-key-file", running.ClientKeyFile,
	}})
	s.idleNode("placed")
	s.policy("place", nodeRule("place", "placed", `select:
            candidates: [{as: group, in: '[{"name": "a"}, {"name": "b"}]'}]
            pipeline:
              - call: extender.filterAndScore
                name: no capacity
                with: {reservationID: "${key.name}-${object.metadata.?annotations[?'place'].orValue('')}", ttl: "${duration(\"10s\")}", size: "${1}"}
                candidate: {name: "${group.name}"}
            orderBy: [group.name]
            then: [{annotations: {set: {place: "${group.name}"}}}]`))
	s.slows("place", "placed", "metadata.annotations.place")
	asked := running.Server.State().Requests[extender.FilterAndScore]
	t.Logf("E4: the extender was asked %d times", asked)
	if asked < 10 {
		t.Errorf("VOID: the extender was asked %d times", asked)
	}
}

// edict runs a command of the program in the namespace of the policies.
func (s *stage) edict(args ...string) string {
	s.t.Helper()
	binary, err := edict()
	s.must(nil, err)
	args = append(args, "--kubeconfig", s.plane.Kubeconfig(), "--policy-namespace", home)
	out, err := exec.CommandContext(s.t.Context(), binary, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("edict %v: %v: %s", args, err, out)
	}
	return string(out)
}

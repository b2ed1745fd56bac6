package fault

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/run/shards"
)

const shardCount = 4

var shardArgs = []string{"--shards", fmt.Sprint(shardCount), "--default-change-limit", "none", "--default-removal-limit", "none"}

// spread takes the limits of the first policy away, so that its keys are spread. Those of
// the other one stay together.
func spread(text string) string {
	before, after, ok := strings.Cut(text, "  limits:")
	_, after, found := strings.Cut(after, "  inputs:")
	if !ok || !found {
		panic("the policies of testdata have changed")
	}
	return before + "  inputs:" + after
}

// together are the policies whose keys all belong to one shard.
var together = []string{"readiness"}

// TestShards: three replicas share four shards. One is killed and starts again, one is
// frozen beyond its Leases and wakes.
func TestShards(t *testing.T) {
	for name, configMaps := range map[string]bool{"files": false, "configMaps": true} {
		t.Run(name, func(t *testing.T) {
			s := setScene(t, scene{controllers: 3, configMaps: configMaps, args: shardArgs, edit: spread})
			s.shared("at the start", s.controllers...)
			s.traffic.begin()
			time.Sleep(5 * time.Second)
			killed, frozen, other := s.controllers[0], s.controllers[1], s.controllers[2]
			killed.kill()
			took := s.shared("after a kill", frozen, other)
			t.Logf("killed: its shards were taken over after %v", took.Round(100*time.Millisecond))
			killed.start()
			s.shared("after it started again", s.controllers...)
			frozen.freeze()
			took = s.shared("while one is frozen", killed, other)
			t.Logf("frozen: its shards were taken over after %v", took.Round(100*time.Millisecond))
			frozen.thaw()
			s.shared("after it woke", s.controllers...)
			took = other.stop()
			t.Logf("stopped: it took %v", took.Round(100*time.Millisecond))
			s.shared("after a stop", killed, frozen)
			other.start()
			s.shared("after the last start", s.controllers...)
			s.traffic.end(0)
			s.converged("after the faults", 40*time.Second)
			s.judgeShards()
		})
	}
}

// shared waits until some controllers hold all shards, each at least one and none more
// than its share.
func (s *stage) shared(what string, among ...*controller) time.Duration {
	s.t.Helper()
	return s.eventually("all shards are held "+what, 60*time.Second, func(ctx context.Context) string {
		sum := 0
		for _, c := range among {
			n, ok := c.gauge(ctx, "edict_shard_held")
			if most := (shardCount + len(among) - 1) / len(among); !ok || int(n) > most || n == 0 {
				return fmt.Sprintf("%s holds %v shards", c.proxy.Name, n)
			}
			sum += int(n)
		}
		if sum != shardCount {
			return fmt.Sprintf("%d shards are held", sum)
		}
		return ""
	})
}

// period is a time in which a controller held a shard, by what it wrote into the Lease.
type period struct {
	by       string
	from, to time.Time
}

// leaseLine is a write of a Lease in the audit log.
type leaseLine struct {
	Stage  string    `json:"stage"`
	Verb   string    `json:"verb"`
	At     time.Time `json:"requestReceivedTimestamp"`
	Done   time.Time `json:"stageTimestamp"`
	Object struct {
		Resource, Name string
	} `json:"objectRef"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Body struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Spec struct {
			HolderIdentity string `json:"holderIdentity"`
		} `json:"spec"`
	} `json:"requestObject"`
}

// periods returns who held each shard when.
func (s *stage) periods() map[int][]period {
	s.t.Helper()
	writes := map[string][]leaseLine{}
	s.auditLines(func(text []byte) {
		var l leaseLine
		if json.Unmarshal(text, &l) == nil && l.Object.Resource == "leases" && l.Response.Code < 300 && (l.Verb == "update" || l.Verb == "create") {
			writes[l.Object.Name] = append(writes[l.Object.Name], l)
		}
	})
	out := map[int][]period{}
	for shard, name := range leaseNames() {
		out[shard] = holders(writes[name])
	}
	return out
}

// holders returns who held a Lease when. Requests are logged when they have been answered: on a
// busy machine the one that released it after the one that took it then. Each is based on the
// version that the one before it led to.
func holders(writes []leaseLine) (out []period) {
	slices.SortStableFunc(writes, func(a, b leaseLine) int { return cmp.Compare(a.base(), b.base()) })
	for _, l := range writes {
		if n := len(out); n > 0 && out[n-1].to.IsZero() && out[n-1].by != l.Body.Spec.HolderIdentity {
			out[n-1].to = l.Done
		}
		if by := l.Body.Spec.HolderIdentity; by != "" && (len(out) == 0 || !out[len(out)-1].to.IsZero()) {
			out = append(out, period{by: by, from: l.At})
		}
	}
	return out
}

// base is the version that a write is based on, 0 for a creation.
func (l leaseLine) base() (version uint64) {
	version, _ = strconv.ParseUint(l.Body.Metadata.ResourceVersion, 10, 64)
	return version
}

func leaseNames() (out []string) {
	for shard := range shardCount {
		name := "edict"
		if shard > 0 {
			name = fmt.Sprintf("edict-shard-%d", shard)
		}
		out = append(out, name)
	}
	return out
}

// judgeShards holds the audit log to this: each write about an object of the policies was
// sent by who held the shard of its key at that time.
func (s *stage) judgeShards() {
	s.t.Helper()
	before := len(s.history())
	time.Sleep(3 * time.Second)
	if after := s.history(); len(after) > before {
		s.t.Errorf("at rest %d more writes, the first is %v", len(after)-before, after[before])
	}
	periods, judged, writers := s.periods(), 0, map[string]bool{}
	for _, r := range s.history() {
		key := eval.Key{Name: r.Object.Name}
		if r.Object.Resource == "configmaps" {
			key.Namespace = "source" // the copies have the names of their sources
		}
		policy := r.policy()
		if r.Verb == "delete" { // which has no field manager
			policy = "copies"
		}
		shard := shards.Spread(shardCount).OfKey(policy, key)
		if slices.Contains(together, policy) {
			shard = shards.Spread(shardCount).OfPolicy(policy)
		}
		held := slices.ContainsFunc(periods[shard], func(p period) bool {
			return p.by == r.by() && !r.At.Before(p.from) && (p.to.IsZero() || r.At.Before(p.to))
		})
		if !held && r.Response.Code < 300 {
			s.t.Errorf("%s wrote without holding shard %d: %v", r.by(), shard, r)
		}
		judged++
		writers[r.by()] = true
	}
	if judged < 200 || len(writers) < 3 {
		s.t.Errorf("VOID: %d writes of %d controllers were judged", judged, len(writers))
	}
	s.noLeak()
}

// TestShardsGather: a policy that becomes debounced while it is spread has one writer
// afterwards, and none in between.
func TestShardsGather(t *testing.T) {
	s := setScene(t, scene{controllers: 2, configMaps: true, args: shardArgs, edit: spread})
	s.shared("at the start", s.controllers...)
	policy := func(more, value string) string {
		return fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: marks}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules:\n    - name: mark\n%s      do: [{annotations: {set: {mark: %s}}}]\n", more, value)
	}
	s.policy("marks", policy("", "a"))
	s.marked("a", 40*time.Second)
	s.policy("marks", policy("      debounce: {window: 1s, key: \"${key.name}\"}\n", "b"))
	took := s.marked("b", 90*time.Second)
	t.Logf("gathered and decided after %v", took.Round(100*time.Millisecond))
	before, after := map[string]bool{}, map[string]bool{}
	for _, r := range s.history() {
		if r.policy() != "marks" || r.Response.Code >= 300 {
			continue
		}
		if r.Body.Metadata.Annotations["mark"] == "a" {
			before[r.by()] = true
		} else {
			after[r.by()] = true
		}
	}
	if len(before) != 2 || len(after) != 1 {
		t.Errorf("spread it was written by %v, gathered by %v", before, after)
	}
}

// TestShardsStatus: the status counts what fails in all replicas, as long as it fails and
// the replica is there.
func TestShardsStatus(t *testing.T) {
	s := setScene(t, scene{controllers: 3, configMaps: true, args: shardArgs, edit: spread})
	s.shared("at the start", s.controllers...)
	s.policy("numbers", `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: numbers}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: double
      when: object.metadata.?annotations["number"].hasValue()
      do: [{annotations: {set: {double: "${string(int(object.metadata.annotations.number) * 2)}"}}}]
`)
	s.note("numbers", "status", "Active", 30*time.Second)
	s.shared("when the policy runs", s.controllers...)
	var names []string
	for shard := range shardCount { // whoever holds it
		name := ""
		for i := 0; name == "" || shards.Spread(shardCount).OfKey("numbers", eval.Key{Name: name}) != shard; i++ {
			name = fmt.Sprintf("number-%d-%d", shard, i)
		}
		s.idleNode(name)
		s.numbered(name, "none")
		names = append(names, name)
	}
	const all = nodeCount + shardCount
	took := s.note("numbers", "error", fmt.Sprintf("numbers: %d of %d objects fail: Node number-0-", shardCount, all), 40*time.Second)
	t.Logf("the objects of all replicas are counted after %v", took.Round(100*time.Millisecond))
	s.note("numbers", "status", "Degraded", 5*time.Second)
	leads, others := s.leader()
	others[0].stop()
	s.shared("after a stop", leads, others[1])
	s.note("numbers", "error", fmt.Sprintf("numbers: %d of %d objects fail: Node number-0-", shardCount, all), 40*time.Second)
	for _, name := range names {
		s.numbered(name, "2")
	}
	took = s.note("numbers", "status", "Active", 90*time.Second)
	t.Logf("nothing fails any more after %v", took.Round(100*time.Millisecond))
}

// numbered gives a node a number.
func (s *stage) numbered(name, number string) {
	s.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"number":%q}}}`, number)
	s.must(s.client.Resource(nodes).Patch(s.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}))
}

// marked waits until all nodes have a mark.
func (s *stage) marked(value string, within time.Duration) time.Duration {
	s.t.Helper()
	return s.eventually("the mark "+value, within, func(ctx context.Context) string {
		list, err := s.client.Resource(nodes).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, node := range list.Items {
			if got := node.GetAnnotations()["mark"]; got != value {
				return fmt.Sprintf("%s has the mark %q", node.GetName(), got)
			}
		}
		return ""
	})
}

// TestHolders: the log has a release behind the take-over that followed it.
func TestHolders(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Unix(int64(second), 0).UTC() }
	line := func(base, by string, from, to int) (l leaseLine) {
		l.At, l.Done, l.Body.Metadata.ResourceVersion, l.Body.Spec.HolderIdentity = at(from), at(to), base, by
		return l
	}
	got := holders([]leaseLine{line("", "a", 1, 2), line("9", "a", 3, 4), line("12", "b", 7, 8), line("10", "", 5, 9), line("13", "b", 9, 10)})
	want := []period{{"a", at(1), at(9)}, {"b", at(7), time.Time{}}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

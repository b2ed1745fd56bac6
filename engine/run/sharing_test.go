package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/metrics"
	"github.com/edict-dev/edict/engine/run/shards"
	"github.com/edict-dev/edict/test/fixture"
)

// leaseServer has Leases, and refuses updates of other versions than its own.
type leaseServer struct {
	mu      sync.Mutex
	version int
	leases  map[string]*coordination.Lease
}

var errUnreachable = errors.New("the API server does not answer")

// leaseClient is the client of one replica. Where it is cut it gets no answers.
type leaseClient struct {
	coordinationv1.LeaseInterface
	server *leaseServer
	cut    func(lease string) bool
}

func (c leaseClient) Leases(string) coordinationv1.LeaseInterface { return c }

func (c leaseClient) do(name string, change func(now *coordination.Lease) (*coordination.Lease, error)) (*coordination.Lease, error) {
	if c.cut(name) {
		return nil, errUnreachable
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	next, err := change(c.server.leases[name].DeepCopy())
	if err != nil {
		return nil, err
	}
	c.server.version++
	next.ResourceVersion = strconv.Itoa(c.server.version)
	c.server.leases[name] = next.DeepCopy()
	return next, nil
}

var leaseResource = kschema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (c leaseClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*coordination.Lease, error) {
	if c.cut(name) {
		return nil, errUnreachable
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if now := c.server.leases[name]; now != nil {
		return now.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(leaseResource, name)
}

func (c leaseClient) Create(_ context.Context, l *coordination.Lease, _ metav1.CreateOptions) (*coordination.Lease, error) {
	return c.do(l.Name, func(now *coordination.Lease) (*coordination.Lease, error) {
		if now != nil {
			return nil, apierrors.NewAlreadyExists(leaseResource, l.Name)
		}
		return l.DeepCopy(), nil
	})
}

func (c leaseClient) Update(_ context.Context, l *coordination.Lease, _ metav1.UpdateOptions) (*coordination.Lease, error) {
	return c.do(l.Name, func(now *coordination.Lease) (*coordination.Lease, error) {
		if now == nil || now.ResourceVersion != l.ResourceVersion {
			return nil, apierrors.NewConflict(leaseResource, l.Name, errors.New("another version"))
		}
		return l.DeepCopy(), nil
	})
}

func (c leaseClient) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*coordination.Lease, error) {
	var patch struct {
		Metadata struct {
			ResourceVersion string
			Annotations     map[string]*string
		}
	}
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	return c.do(name, func(now *coordination.Lease) (*coordination.Lease, error) {
		if now == nil {
			return nil, apierrors.NewNotFound(leaseResource, name)
		}
		if v := patch.Metadata.ResourceVersion; v != "" && v != now.ResourceVersion {
			return nil, apierrors.NewConflict(leaseResource, name, errors.New("another version"))
		}
		if now.Annotations == nil {
			now.Annotations = map[string]string{}
		}
		for key, text := range patch.Metadata.Annotations {
			if delete(now.Annotations, key); text != nil {
				now.Annotations[key] = *text
			}
		}
		return now, nil
	})
}

// replica is one that shares the work, with work that only notes what it holds.
type replica struct {
	*sharing
	own    *shards.Ownership
	mu     sync.Mutex
	isCut  func(lease string) bool
	needs  shards.Placement
	wrong  []shards.Trouble
	runs   map[string]string
	looked string
	heards int
	// unsettled is that it never says that nothing is under way.
	unsettled bool
	leads     bool
	waited    []time.Duration
	cancel    context.CancelFunc
	done      chan struct{}
}

func (r *replica) Acquire(shard int)        { r.own.Open(shard) }
func (r *replica) Place(p shards.Placement) { r.own.Place(p) }

func (r *replica) Settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.unsettled && r.own.Settled()
}

func (r *replica) Troubles() []shards.Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrong
}

func (r *replica) InForce() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs
}

func (r *replica) Looked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looked
}

func (r *replica) Heard() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heards++
}

func (r *replica) Leads(leads bool, waited time.Duration) {
	if r.leads = leads; leads {
		r.waited = append(r.waited, waited)
	}
}

func (r *replica) Release(ctx context.Context, shard int) error {
	err := r.own.Drain(ctx, shard)
	r.own.Close(shard)
	return err
}

func (r *replica) Gathered() (shards.Placement, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.needs), true
}

// cut cuts the replica off from some Leases.
func (r *replica) cut(from func(lease string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isCut = from
}

func all(string) bool          { return true }
func none(string) bool         { return false }
func rosterOnly(l string) bool { return strings.HasSuffix(l, "-shards") }

// mayWrite reports whether the replica would write about a key now.
func (r *replica) mayWrite(key eval.Key) bool {
	claim, end, ok := r.own.Begin(about, key)
	if !ok {
		return false
	}
	defer end()
	return r.gate(claim.With(context.Background())) == nil
}

var about = &plan.Policy{Name: "p", Mode: plan.Enforce}

// fleet is the replicas of a test.
type fleet struct {
	t        *testing.T
	server   *leaseServer
	shards   int
	replicas map[string]*replica
	// lease has the duration of the Leases of replicas for which it is not the default.
	lease map[string]time.Duration
}

func newFleet(t *testing.T, n int) *fleet {
	t.Helper()
	return &fleet{t: t, server: &leaseServer{leases: map[string]*coordination.Lease{}}, shards: n, replicas: map[string]*replica{}}
}

// start starts a replica; one whose name was used before is started again.
func (f *fleet) start(name string, n int) *replica {
	f.t.Helper()
	r := &replica{own: shards.NewOwnership(n), done: make(chan struct{}), isCut: none}
	r.sharing = &sharing{options: sharingOptions{shards: n, stop: 45 * time.Second, log: slog.New(slog.DiscardHandler)}}
	election, err := Election{Namespace: "ns", Name: "edict", Identity: name, LeaseDuration: f.lease[name], RenewDeadline: f.lease[name] * 2 / 3}.withDefaults()
	if err != nil {
		f.t.Fatal(err)
	}
	r.connect(leaseClient{server: f.server, cut: func(lease string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.isCut(lease)
	}}, election)
	ctx, cancel := context.WithCancel(f.t.Context())
	r.cancel = cancel
	f.replicas[name] = r
	go func() {
		defer close(r.done)
		for ctx.Err() == nil {
			if r.join(ctx) {
				r.take(ctx, r)
				_ = r.roster.leave(context.WithoutCancel(ctx))
			} else {
				r.pause(ctx, r.config.RetryPeriod)
			}
		}
	}()
	return r
}

func (f *fleet) stop() {
	for _, r := range f.replicas {
		r.cut(none)
		r.cancel()
	}
	for _, r := range f.replicas {
		<-r.done
	}
}

var keys = func() (out []eval.Key) {
	for i := range 40 {
		out = append(out, eval.Key{Namespace: "ns", Name: fmt.Sprint("o", i)})
	}
	return out
}()

// writers returns who may write about each key, and fails if two may.
func (f *fleet) writers() map[eval.Key]string {
	f.t.Helper()
	out := map[eval.Key]string{}
	for _, key := range keys {
		var who []string
		for name, r := range f.replicas {
			if r.mayWrite(key) {
				who = append(who, name)
			}
		}
		if len(who) > 1 {
			f.t.Fatalf("%v may all write about %s", who, key)
		}
		if len(who) == 1 {
			out[key] = who[0]
		}
	}
	return out
}

// pass lets time pass, in which no two replicas may write about one key.
func (f *fleet) pass(d time.Duration) {
	f.t.Helper()
	for range d / (100 * time.Millisecond) {
		<-time.After(100 * time.Millisecond)
		synctest.Wait()
		f.writers()
	}
}

// balanced wants each key to have a writer, and each live replica its share.
func (f *fleet) balanced(live ...string) {
	f.t.Helper()
	if got := len(f.writers()); got != len(keys) {
		f.t.Errorf("%d of %d keys have a writer", got, len(keys))
	}
	sum := 0
	for _, name := range live {
		n := len(f.replicas[name].own.Held())
		sum += n
		if most, least := (f.shards+len(live)-1)/len(live), f.shards/len(live); n > most || n < least {
			f.t.Errorf("%s holds %d of %d shards, with %d live replicas", name, n, f.shards, len(live))
		}
	}
	if sum != f.shards {
		f.t.Errorf("%d of %d shards are held", sum, f.shards)
	}
}

// TestSharing: replicas come, go, lose the API server, and get it back.
func TestSharing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		f.start("a", 4)
		f.pass(10 * time.Second)
		f.balanced("a")
		f.start("b", 4)
		f.pass(20 * time.Second)
		f.balanced("a", "b")
		f.start("c", 4)
		f.pass(20 * time.Second)
		f.balanced("a", "b", "c")
		f.replicas["a"].cut(all)
		f.pass(25 * time.Second)
		f.balanced("b", "c")
		f.replicas["a"].cut(none)
		f.pass(20 * time.Second)
		f.balanced("a", "b", "c")
		f.replicas["b"].cancel()
		f.pass(10 * time.Second)
		f.balanced("a", "c")
		f.stop()
	})
}

// TestTroublesAreAnnounced: what is wrong in a replica is known to the others as long as it
// is live. One without a shard only says what it does not run.
func TestTroublesAreAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		a, b := f.start("a", 2), f.start("b", 2)
		f.start("c", 2) // it has no shard
		f.pass(20 * time.Second)
		wrong := func(n int) []shards.Trouble { return []shards.Trouble{{Policy: "p", Revision: "r", Failing: n}} }
		f.goWrong("b", wrong(3))
		f.goWrong("c", wrong(5))
		known := func(when string, want ...shards.Trouble) {
			t.Helper()
			f.pass(5 * time.Second)
			var got []shards.Trouble
			for _, other := range a.roster.Others() {
				got = append(got, other.Troubles...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", when, diff)
			}
		}
		known("something fails", wrong(3)...)
		f.goWrong("b", wrong(4))
		known("more fails", wrong(4)...)
		idle := shards.Trouble{Policy: "p", Revision: "next", Idle: "no kind"}
		f.goWrong("c", append(wrong(5), idle))
		known("one without a shard does not run it", append(wrong(4), idle)...)
		f.goWrong("c", wrong(5))
		f.goWrong("b", nil)
		known("nothing fails any more")
		f.goWrong("b", wrong(4))
		f.pass(5 * time.Second)
		b.cut(all)
		f.goWrong("c", nil)
		f.pass(15 * time.Second)
		known("it is taken for dead")
		b.cut(none)
		f.replicas["c"].cancel()
		f.pass(15 * time.Second)
		known("it is back", wrong(4)...)
		b.cancel()
		known("it has ended")
		f.stop()
	})
}

// TestIdleIsAnnouncedAtOnce: a replica that cannot load an edit says so at once, as one that
// has it, and the leader looks with its next step.
func TestIdleIsAnnouncedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		a, b := f.start("a", 2), f.start("b", 2)
		f.runs("b", "1>2") // it is being loaded
		f.pass(20 * time.Second)
		for i, why := range []string{"no kind", ""} {
			var wrong []shards.Trouble
			if why != "" {
				wrong = []shards.Trouble{{Policy: "p", Revision: "2", Idle: why}}
			}
			before := a.heards
			f.goWrong("b", wrong)
			b.hurry()
			f.pass(a.config.RetryPeriod + 2*announceGather)
			if others := a.roster.Others(); a.heards != before+1 || !slices.EqualFunc(others[0].Troubles, wrong, func(a, b shards.Trouble) bool { return a == b }) {
				t.Errorf("%d: the leader was told %d times, and knows %v", i, a.heards-before, others[0].Troubles)
			}
			f.pass(a.config.RetryPeriod / 3)
		}
		f.stop()
	})
}

// goWrong sets what is wrong in a replica.
func (f *fleet) goWrong(name string, wrong []shards.Trouble) {
	r := f.replicas[name]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = wrong
}

// TestRevisionsInForceAreAnnounced: what is in force in a replica is announced at once, as
// long as it is live, also without a shard, and the others hear of it with their next step.
func TestRevisionsInForceAreAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		for _, name := range []string{"a", "b", "c"} { // c has no shard
			f.start(name, 2)
			f.runs(name, "1")
		}
		a, b := f.replicas["a"], f.replicas["b"]
		known := func(when string, after time.Duration, want map[string]string) {
			t.Helper()
			f.pass(after)
			if got := a.roster.InForce()["b"].Revisions; (got == nil) != (want == nil) || !maps.Equal(got, want) {
				t.Errorf("%s: %v are in force, want %v", when, got, want)
			}
		}
		known("at first", 20*time.Second, map[string]string{"p": "1"})
		if got := a.roster.InForce()["c"].Revisions["p"]; got != "1" {
			t.Errorf("without a shard it announces %q", got)
		}
		step := a.config.RetryPeriod
		for _, revision := range []string{"2", "3", "4"} { // each at another time of the interval
			before := a.heards
			f.runs("b", revision)
			known("an edit", step+2*announceGather, map[string]string{"p": revision})
			if f.pass(3 * step); a.heards != before+1 {
				t.Errorf("the leader was told of one edit %d times", a.heards-before)
			}
			f.pass(step / 3)
		}
		f.looks("b", "17")
		known("it has looked at the history", step+2*announceGather, map[string]string{"p": "4"})
		if all := a.roster.Others(); all[0].Identity != "b" || all[0].Behind("17") || !all[0].Behind("18") {
			t.Errorf("it has looked at the version %q", all[0].Looked)
		}
		f.runs("b", "")
		known("nothing is in force", step+2*announceGather, map[string]string{})
		b.cut(all)
		known("it is taken for dead", 20*time.Second, nil)
		b.cut(none)
		f.stop()
	})
}

// runs sets which revision of a policy is in force in a replica; "" is none.
func (f *fleet) runs(name, revision string) {
	r := f.replicas[name]
	r.mu.Lock()
	r.runs = map[string]string{}
	if revision != "" {
		r.runs["p"] = revision
	}
	r.mu.Unlock()
	r.hurry()
}

// looks sets which version of the history a replica has acted on.
func (f *fleet) looks(name, version string) {
	r := f.replicas[name]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = version
}

// TestRebalancing: in no sequence of starts, stops and cuts two replicas may write about
// one key; when nothing happens any more, all keys have a writer.
func TestRebalancing(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			f := newFleet(t, 1+random.IntN(6)+1)
			names := []string{"a", "b", "c", "d"}
			up := map[string]bool{}
			for range 25 {
				name := names[random.IntN(len(names))]
				r := f.replicas[name]
				switch what := random.IntN(4); {
				case r == nil || !up[name]:
					if r != nil {
						<-r.done
					}
					f.start(name, f.shards)
					up[name] = true
				case what == 0:
					r.cut(none)
					r.cancel()
					up[name] = false
				default:
					r.cut([]func(string) bool{all, none, rosterOnly}[what-1])
				}
				f.pass(time.Duration(random.IntN(200)) * 100 * time.Millisecond)
			}
			var live []string
			for name := range up {
				if up[name] {
					f.replicas[name].cut(none)
					live = append(live, name)
				}
			}
			if len(live) > 0 {
				slices.Sort(live)
				f.pass(60 * time.Second)
				f.balanced(live...)
			}
			f.stop()
		})
	}
}

// TestOtherLeases: a replica whose Leases are longer than those of another one, as during
// a change of its arguments, may write for longer after its last announcement.
func TestOtherLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		f.lease = map[string]time.Duration{"a": 40 * time.Second}
		f.start("a", 4)
		f.pass(10 * time.Second)
		f.start("b", 4)
		f.pass(30 * time.Second)
		f.balanced("a", "b")
		f.replicas["a"].cut(all)
		f.pass(60 * time.Second)
		f.balanced("b")
		f.replicas["a"].cut(none)
		f.pass(40 * time.Second)
		f.balanced("a", "b")
		f.stop()
	})
}

// TestOtherNumberOfShards: replicas with another number of shards wait until those before
// are gone, and so does one while a controller without shards leads.
func TestOtherNumberOfShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		f.start("a", 4)
		f.pass(10 * time.Second)
		f.start("b", 8)
		f.start("c", 8)
		f.pass(40 * time.Second)
		f.balanced("a")
		f.replicas["a"].cancel()
		f.shards = 8
		f.pass(30 * time.Second)
		f.balanced("b", "c")
		f.stop()
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		election, err := Election{Namespace: "ns", Name: "edict", Identity: "single"}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		client := leaseClient{server: f.server, cut: none}
		leads, lost, release, err := election.elect(t.Context(), election.lockOf(client, "edict"))
		if err != nil {
			t.Fatal(err)
		}
		<-leads
		r := f.start("a", 4)
		f.pass(40 * time.Second)
		if held := r.own.Held(); len(held) > 0 {
			t.Errorf("it holds %v while a controller without shards leads", held)
		}
		if !strings.Contains(r.waiting, "runs without --shards") {
			t.Errorf("it waits because of %q", r.waiting)
		}
		release()
		<-lost
		f.pass(20 * time.Second)
		f.balanced("a")
		f.stop()
	})
}

// TestGathering: the keys of a policy that is no longer to be spread have no writer until
// every replica knows, and then one.
func TestGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		f.start("a", 4)
		f.start("b", 4)
		f.pass(20 * time.Second)
		f.balanced("a", "b")
		f.replicas["b"].cut(all) // it does not learn of it
		for _, r := range f.replicas {
			r.mu.Lock()
			r.needs = shards.Placement{"p": shards.Whole}
			r.mu.Unlock()
		}
		f.pass(60 * time.Second)
		f.replicas["b"].cut(none)
		f.pass(20 * time.Second)
		who := map[string]bool{}
		for _, name := range f.writers() {
			who[name] = true
		}
		if len(f.writers()) != len(keys) || len(who) != 1 {
			t.Errorf("%d keys have writers: %v", len(f.writers()), who)
		}
		if n := f.replicas["a"].leads; n == f.replicas["b"].leads {
			t.Errorf("both or none makes the policy-wide writes: %v", n)
		}
		f.stop()
	})
}

// TestGatheringWhileOneStops: a replica that stops, and still evaluates a key, writes nothing
// about it any more when all keys of the policy belong to another shard by now.
func TestGatheringWhileOneStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		a, b := f.start("a", 4), f.start("b", 4)
		f.pass(20 * time.Second)
		if !a.leads {
			a, b = b, a
		}
		underWay := map[eval.Key]*shards.Claim{}
		for _, key := range keys {
			if claim, end, ok := b.own.Begin(about, key); ok {
				defer end()
				underWay[key] = claim
			}
		}
		b.cancel()
		a.mu.Lock()
		a.needs = shards.Placement{"p": shards.Led}
		a.mu.Unlock()
		both, ended := 0, 0
		for range 40 {
			f.pass(time.Second)
			for key, claim := range underWay {
				switch writes := b.gate(claim.With(t.Context())) == nil; {
				case !writes:
					ended++
				case a.mayWrite(key):
					both++
				}
			}
		}
		if both > 0 || ended == 0 || len(underWay) == 0 {
			t.Errorf("of %d keys two replicas could write %d times, and one no longer %d times", len(underWay), both, ended)
		}
		f.stop()
	})
}

// TestWaitForTheLead: a replica that shares the work counts how long it waited for the
// lead, as one without shards does.
func TestWaitForTheLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 4)
		f.start("a", 4)
		f.pass(20 * time.Second)
		f.start("b", 4)
		f.pass(40 * time.Second)
		first, second := f.replicas["a"], f.replicas["b"]
		if first.leads == second.leads {
			t.Fatal("not one of two leads")
		}
		if !first.leads {
			first, second = second, first
		}
		before := len(second.waited)
		first.cancel()
		f.pass(40 * time.Second)
		if len(second.waited) != before+1 || len(first.waited) == 0 {
			t.Errorf("the replicas have waited %v and %v", first.waited, second.waited)
		}
		f.stop()
	})
	count := func() uint64 {
		var m dto.Metric
		if err := observe.LeaderAcquire.Write(&m); err != nil {
			t.Fatal(err)
		}
		return m.GetHistogram().GetSampleCount()
	}
	before := count()
	work := &sharedTerm{term: &term{process: &process{metrics: metrics.New(metrics.Options{})}}, turns: make(chan struct{}, 1)}
	work.Leads(true, time.Second)
	work.Leads(false, 0)
	if got := count() - before; got != 1 {
		t.Errorf("one lead was counted %d times", got)
	}
}

// lateManager is ready when it has said which policies have steps, which it does when it is
// asked.
type lateManager struct{ runtime *controller.Runtime }

func (lateManager) Run(context.Context) error { return nil }
func (lateManager) Nudge()                    {}
func (m lateManager) Ready() bool {
	m.runtime.Stepwise(map[string]bool{"p": true})
	return true
}

// TestGatheredIsOfOneLook: a leader that is just ready does not scatter the policies with
// steps.
func TestGatheredIsOfOneLook(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	work := &sharedTerm{term: &term{process: &process{}, follows: true, runtime: controller.New(ctx, controller.Options{Log: fixture.Log(), Brakes: &brake.Settings{}})}}
	work.term.manager.Store(&following{lateManager{work.term.runtime}})
	if needs, known := work.Gathered(); known && needs["p"] != shards.Led {
		t.Errorf("the needs %v are taken for known", needs)
	}
}

package shards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

func key(i int) eval.Key { return eval.Key{Namespace: "ns", Name: fmt.Sprintf("o%d", i)} }

// TestSpread: the shards of keys never change, and have about as many keys each.
func TestSpread(t *testing.T) {
	t.Parallel()
	got := []int{}
	for i := range 8 {
		got = append(got, Spread(4).OfKey("p", key(i)))
	}
	if diff := cmp.Diff([]int{0, 0, 3, 0, 2, 3, 2, 0}, got); diff != "" {
		t.Errorf("keys have moved to other shards: %s", diff)
	}
	const keys = 10_000
	for _, n := range []int{1, 2, 3, 4, 7, 16} {
		count := make([]int, n)
		for i := range keys {
			count[Spread(n).OfKey("p", key(i))]++
		}
		if least, most := slices.Min(count), slices.Max(count); least < keys/n*8/10 || most > keys/n*12/10 {
			t.Errorf("of %d shards one has %d and one %d keys", n, least, most)
		}
	}
}

// TestQuota: the quotas add up to the number of shards, and none is more than its share
// rounded up.
func TestQuota(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 20; n++ {
		for live := 1; live <= 12; live++ {
			sum := 0
			for place := range live {
				quota := Quota(n, place, live)
				sum += quota
				if most := (n + live - 1) / live; quota > most || quota < n/live {
					t.Errorf("%d of %d replicas holds %d of %d shards", place, live, quota, n)
				}
			}
			if sum != n {
				t.Errorf("%d replicas hold %d of %d shards", live, sum, n)
			}
		}
	}
}

// TestNext: what a replica competes for and releases.
func TestNext(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	for name, tc := range map[string]struct {
		others           map[string][]int
		held             []int
		compete, release []int
	}{
		"alone":                          {nil, nil, []int{0, 1, 2, 3}, nil},
		"alone, with some":               {nil, []int{1, 2}, []int{0, 3}, nil},
		"another has some":               {map[string][]int{"a": {0, 1}}, nil, []int{2, 3}, nil},
		"another has all":                {map[string][]int{"a": {0, 1, 2, 3}}, nil, nil, nil},
		"it has all, another has none":   {map[string][]int{"z": nil}, []int{0, 1, 2, 3}, nil, []int{3}},
		"more replicas than shards":      {map[string][]int{"a": {0}, "b": {1}, "c": {2}, "d": {3}}, nil, nil, nil},
		"it is the last of three":        {map[string][]int{"a": {0}, "b": {1}}, nil, []int{2}, nil},
		"it has more than the last does": {map[string][]int{"a": {0}, "b": {1}}, []int{2, 3}, nil, []int{3}},
	} {
		r := Roster{Self: Replica{Identity: "m", Shards: 4}, Duration: 15 * time.Second}
		annotations := map[string]string{}
		for identity, held := range tc.others {
			other := Replica{Identity: identity, Shards: 4, Held: held}
			annotations[other.Name()] = other.Text()
		}
		if err := r.Read(annotations, begin.Add(time.Second), begin.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		compete, release := r.Next(tc.held)
		slices.Sort(compete)
		if diff := cmp.Diff([][]int{tc.compete, tc.release}, [][]int{compete, release}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestLive: who has not announced itself for the duration of a Lease is not live, and one
// that was read for the first time is.
func TestLive(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	r := Roster{Self: Replica{Identity: "m", Shards: 4}, Duration: 15 * time.Second}
	read := func(beat int64, at time.Duration) {
		other := Replica{Identity: "a", Shards: 4, Beat: beat}
		if err := r.Read(map[string]string{other.Name(): other.Text(), AnnotationReplica + "x": "{", "other": "x"}, begin.Add(at), begin.Add(at)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		at   time.Duration
		beat int64
		live bool
	}{{0, 1, true}, {14 * time.Second, 1, true}, {15 * time.Second, 1, false}, {16 * time.Second, 2, true}, {30 * time.Second, 2, true}, {31 * time.Second, 2, false}} {
		read(tc.beat, tc.at)
		if got := len(r.Live()) == 2; got != tc.live {
			t.Errorf("after %v: live %v", tc.at, got)
		}
		if _, got := r.Dead("a"); got == tc.live {
			t.Errorf("after %v: dead %v", tc.at, got)
		}
	}
	for _, who := range []string{"m", "stranger"} {
		if _, dead := r.Dead(who); dead {
			t.Errorf("%s counts as dead", who)
		}
	}
}

// TestLiveByItsOwnLease: a replica whose Leases are longer than those of the one that reads
// is live for so long.
func TestLiveByItsOwnLease(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	for lease, want := range map[int64]time.Duration{0: 15 * time.Second, 10: 15 * time.Second, 40: 40 * time.Second} {
		r := Roster{Self: Replica{Identity: "m", Shards: 4}, Duration: 15 * time.Second}
		other := Replica{Identity: "a", Shards: 4, Lease: lease}
		for _, at := range []time.Duration{0, want - time.Second, want} {
			if err := r.Read(map[string]string{other.Name(): other.Text()}, begin.Add(at), begin.Add(at)); err != nil {
				t.Fatal(err)
			}
			longest := want
			if at == want {
				longest = r.Duration
			}
			if _, dead := r.Dead("a"); dead != (at == want) || r.Longest() != longest {
				t.Errorf("a lease of %d s, after %v: dead is %v, the longest lease %v", lease, at, dead, r.Longest())
			}
		}
	}
}

// TestOther: a replica with another number of shards is found while it is live.
func TestOther(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	r := Roster{Self: Replica{Identity: "m", Shards: 4}, Duration: 15 * time.Second}
	other := Replica{Identity: "a", Shards: 8}
	for _, tc := range []struct {
		at   time.Duration
		want bool
	}{{0, true}, {15 * time.Second, false}} {
		if err := r.Read(map[string]string{other.Name(): other.Text()}, begin.Add(tc.at), begin.Add(tc.at)); err != nil {
			t.Fatal(err)
		}
		if got := r.Other(); (got != nil) != tc.want || got != nil && got.Identity != "a" {
			t.Errorf("after %v it found %v", tc.at, got)
		}
		if live := r.Live(); len(live) != 1 {
			t.Errorf("it shares with %v", live)
		}
	}
}

func spreadPolicy() *plan.Policy { return &plan.Policy{Name: "p", Mode: plan.Enforce} }

func debounced() *plan.Policy {
	return &plan.Policy{Name: "p", Mode: plan.Enforce, Rules: []*plan.Rule{{Debounce: &plan.Debounce{}}}}
}

// TestNeeds: which policies are not spread.
func TestNeeds(t *testing.T) {
	t.Parallel()
	limited := spreadPolicy()
	limited.Limits.Removals = &plan.Limit{}
	for name, tc := range map[string]struct {
		policy *plan.Policy
		want   Phase
	}{
		"one without": {spreadPolicy(), ""}, "one with a debounce": {debounced(), Whole}, "one with limits": {limited, Whole},
		"one in Shadow mode":             {&plan.Policy{Name: "p", Mode: plan.Shadow}, Led},
		"one in Shadow mode with limits": {&plan.Policy{Name: "p", Mode: plan.Shadow, Limits: limited.Limits}, Led},
	} {
		if got := Needs(tc.policy); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// nobody says that it has seen a version.
func nobody(string) bool { return false }

// TestKeeper: a policy is gathered and scattered in steps between which every replica
// has seen that none may evaluate it.
func TestKeeper(t *testing.T) {
	t.Parallel()
	const wait = 15 * time.Second
	begin := time.Unix(0, 0)
	var k Keeper
	now := Placement{}
	whole, led := Placement{"p": Whole}, Placement{"p": Led}
	for _, tc := range []struct {
		at    time.Duration
		needs Placement
		want  Placement
	}{
		{0, nil, Placement{}},
		{1 * time.Second, whole, Placement{"p": Gathering}},
		{2 * time.Second, whole, Placement{"p": Gathering}},
		{16 * time.Second, whole, Placement{"p": Gathering}},
		{17 * time.Second, whole, Placement{"p": Whole}},
		{60 * time.Second, whole, Placement{"p": Whole}},
		{61 * time.Second, nil, Placement{"p": Scattering}},
		{62 * time.Second, nil, Placement{"p": Scattering}},
		{63 * time.Second, whole, Placement{"p": Gathering}},
		{64 * time.Second, whole, Placement{"p": Gathering}},
		{65 * time.Second, nil, Placement{"p": Scattering}},
		{66 * time.Second, nil, Placement{"p": Scattering}},
		{81 * time.Second, nil, Placement{}},
		{90 * time.Second, led, Placement{"p": Gathering}},
		{91 * time.Second, led, Placement{"p": Gathering}},
		{106 * time.Second, led, Placement{"p": Led}},
		{120 * time.Second, whole, Placement{"p": Gathering}},
		{121 * time.Second, whole, Placement{"p": Gathering}},
		{136 * time.Second, whole, Placement{"p": Whole}},
		{140 * time.Second, led, Placement{"p": Gathering}},
		{150 * time.Second, nil, Placement{"p": Scattering}},
		{151 * time.Second, nil, Placement{"p": Scattering}},
		{166 * time.Second, nil, Placement{}},
	} {
		now = k.Next(now, tc.needs, Look{Time: begin.Add(tc.at)}, wait, nobody)
		if diff := cmp.Diff(tc.want, now); diff != "" {
			t.Errorf("after %v: %s", tc.at, diff)
		}
	}
}

// TestPlacements: for no two placements that may be acted on at once, a key belongs to two
// shards: the keeper goes from one to the next only when nobody acts on the one before.
func TestPlacements(t *testing.T) {
	t.Parallel()
	const wait = 15 * time.Second
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		k, now, at := &Keeper{}, Placement{}, time.Unix(0, 0)
		type seen struct {
			p  Placement
			to time.Time // until when somebody may act on it
		}
		var acted []seen
		for range 100 {
			at = at.Add(rand.N(6 * time.Second))
			if random.IntN(8) == 0 {
				k = &Keeper{} // another replica keeps it from now on
			}
			needs := Placement{}
			if need := []Phase{"", Whole, Led}[random.IntN(3)]; need != "" {
				needs["p"] = need
			}
			next := k.Next(now, needs, Look{Time: at}, wait, nobody)
			acted = append(acted, seen{now, at.Add(wait)})
			now = next
			for i := range 20 {
				mine, may := now.Shard(4, spreadPolicy(), key(i))
				for _, before := range acted {
					other, might := before.p.Shard(4, spreadPolicy(), key(i))
					if may && might && at.Before(before.to) && mine != other {
						t.Fatalf("seed %d: the key %d belongs to shard %d by %v and to %d by %v", seed, i, mine, now, other, before.p)
					}
				}
			}
		}
	}
}

// TestShardOfPolicy: where the keys of a policy are, by the placement and by what the
// policy needs.
func TestShardOfPolicy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		p      Placement
		policy *plan.Policy
		spread bool
		ok     bool
	}{
		"spread":                      {nil, spreadPolicy(), true, true},
		"not gathered yet":            {nil, debounced(), true, false},
		"being gathered":              {Placement{"p": Gathering}, debounced(), false, false},
		"gathered":                    {Placement{"p": Whole}, debounced(), false, true},
		"gathered without need":       {Placement{"p": Whole}, spreadPolicy(), false, true},
		"led":                         {Placement{"p": Led}, spreadPolicy(), false, true},
		"in a phase to come":          {Placement{"p": "later"}, spreadPolicy(), false, false},
		"about to be spread":          {Placement{"p": Scattering}, spreadPolicy(), false, false},
		"another policy is gathered":  {Placement{"q": Whole}, spreadPolicy(), true, true},
		"another policy is scattered": {Placement{"q": Scattering}, spreadPolicy(), true, true},
	} {
		all := map[int]bool{}
		for i := range 100 {
			shard, ok := tc.p.Shard(4, tc.policy, key(i))
			if ok != tc.ok {
				t.Fatalf("%s: may be evaluated: %v", name, ok)
			}
			all[shard] = true
		}
		if tc.ok && (len(all) > 1) != tc.spread {
			t.Errorf("%s: the keys belong to %v", name, slices.Sorted(maps.Keys(all)))
		}
		if led := tc.p["p"] == Led; led && !all[0] {
			t.Errorf("%s: the keys belong to %v, and the leader holds shard 0", name, slices.Sorted(maps.Keys(all)))
		}
	}
}

// TestLedForEarlierVersions: a replica that knows nothing of policies that are led takes
// one for gathered, and what it makes of the placement as a leader is understood.
func TestLedForEarlierVersions(t *testing.T) {
	t.Parallel()
	now := Placement{"p": Led, "q": Whole, "r": Gathering}
	read, err := ParsePlacement(now.Text())
	if diff := cmp.Diff(now, read); err != nil || diff != "" {
		t.Error(err, diff)
	}
	var earlier map[string]string
	if err := json.Unmarshal([]byte(now.Text()), &earlier); err != nil || earlier["p"] != "gathering" || earlier["q"] != "whole" {
		t.Errorf("an earlier version reads %v: %v", earlier, err)
	}
	for text, want := range map[string]Placement{
		`{"p":"gathering","led/p":"led"}`: {"p": Led}, `{"p":"led"}`: {"p": Led},
		`{"p":"whole","led/p":"scattering"}`: {"p": Whole}, `{"p":"whole","led/p":"led"}`: {"p": Whole},
		`{"p":"gathering","led/p":"scattering"}`: {"p": Gathering}, `{"p":"scattering","led/p":"led"}`: {"p": Scattering}, `{"led/p":"led"}`: {},
	} {
		got, err := ParsePlacement(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
}

// TestOwnership: evaluations are admitted for what is held, releasing waits for those
// under way, and a claim ends with its shard.
func TestOwnership(t *testing.T) {
	t.Parallel()
	p, own := spreadPolicy(), NewOwnership(1)
	if _, _, ok := own.Begin(p, key(1)); ok || own.Has(p, key(1)) {
		t.Error("a key of a shard that is not held is admitted")
	}
	own.Open(0)
	claim, end, ok := own.Begin(p, key(1))
	if !ok || !own.Has(p, key(1)) {
		t.Fatal("a key of a shard that is held is not admitted")
	}
	ctx := claim.With(t.Context())
	if shard, err := Claimed(ctx); shard != 0 || err != nil {
		t.Errorf("the claim is %d, %v", shard, err)
	}
	soon, cancel := context.WithCancel(t.Context())
	cancel()
	if err := own.Drain(soon, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a drain with an evaluation under way ended with %v", err)
	}
	if _, _, ok := own.Begin(p, key(2)); ok {
		t.Error("an evaluation begins while the shard is released")
	}
	if _, ok := own.Last(0, p, key(2)); !ok {
		t.Error("what is pending cannot be run while the shard is released")
	}
	if _, err := Claimed(ctx); err != nil {
		t.Errorf("what is under way may not be finished: %v", err)
	}
	end()
	if err := own.Drain(t.Context(), 0); err != nil {
		t.Error(err)
	}
	own.Close(0)
	if _, err := Claimed(ctx); !errors.Is(err, ErrReleased) || !errors.Is(err, context.Canceled) {
		t.Errorf("a claim of a released shard: %v", err)
	}
	if _, err := Claimed(t.Context()); err == nil {
		t.Error("a write without a claim is allowed")
	}
}

// TestPlace: a claim ends when its key moves to another shard, and the policies that are
// placed otherwise are named.
func TestPlace(t *testing.T) {
	t.Parallel()
	p, own := spreadPolicy(), NewOwnership(4)
	for shard := range 4 {
		own.Open(shard)
	}
	claim, end, _ := own.Begin(p, key(1))
	defer end()
	ctx := claim.With(t.Context())
	if diff := cmp.Diff([]string{"p"}, own.Place(Placement{"p": Gathering})); diff != "" {
		t.Error(diff)
	}
	if _, err := Claimed(ctx); !errors.Is(err, ErrReleased) {
		t.Errorf("an evaluation from before writes on: %v", err)
	}
	if diff := cmp.Diff([]string(nil), own.Place(Placement{"p": Gathering})); diff != "" {
		t.Error(diff)
	}
	if held, of := own.Share("p"); held != of {
		t.Errorf("a policy that is not spread has %d of %d", held, of)
	}
	own.Place(nil)
	own.Close(3)
	if held, of := own.Share("p"); held != 3 || of != 4 {
		t.Errorf("a policy that is spread has %d of %d", held, of)
	}
}

// TestNilOwnership: without shards everything is held, and nothing is claimed.
func TestNilOwnership(t *testing.T) {
	t.Parallel()
	var own *Ownership
	claim, end, ok := own.Begin(spreadPolicy(), key(1))
	end()
	if !ok || !own.Has(spreadPolicy(), key(1)) || claim.With(t.Context()) != t.Context() {
		t.Error("something is not held")
	}
	if held, of := own.Share("p"); held != of {
		t.Errorf("it has %d of %d", held, of)
	}
}

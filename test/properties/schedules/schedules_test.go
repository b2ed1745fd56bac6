package schedules

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/edict-dev/edict/test/budget"
)

// count is how many schedules run: EDICT_SCHEDULES, or as many as take a few
// seconds.
func count(t *testing.T) uint64 {
	t.Helper()
	if given, ok := number(t, "EDICT_SCHEDULES"); ok {
		return given
	}
	return uint64(budget.Of(60, 300))
}

func number(t *testing.T, name string) (uint64, bool) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n, true
}

// shards is how many schedules run at once.
const shards = 4

// TestFaultSchedules: whatever breaks in whatever order, nothing is lost, nothing
// is written or deleted that should not be, and all comes to rest where it would
// have without faults.
func TestFaultSchedules(t *testing.T) {
	t.Parallel()
	all := scenarios(t)
	if seed, ok := number(t, "EDICT_SEED"); ok {
		try(t, all, seed)
		return
	}
	n := count(t)
	met := &totals{happened: map[string]int{}}
	t.Cleanup(func() { met.check(t, n) })
	for shard := range uint64(shards) {
		t.Run(strconv.FormatUint(shard, 10), func(t *testing.T) {
			t.Parallel()
			for seed := shard; seed < n && !t.Failed(); seed += shards {
				met.add(try(t, all, seed))
			}
		})
	}
}

// of returns the scenario of a seed: mostly one that is quick.
func of(all []*scenario, seed uint64) *scenario { return all[min(seed%8, uint64(len(all)-1))] }

// totals count what happened in all schedules.
type totals struct {
	mu       sync.Mutex
	happened map[string]int
}

func (s *totals) add(b *bench) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, n := range b.met {
		s.happened[name] += n
	}
}

// check wants every fault to have happened often enough to show something.
func (s *totals) check(t *testing.T, n uint64) {
	t.Logf("%d schedules: %v", n, s.happened)
	for _, a := range []action{lag, relist, badList, failSend, failRecv, contend, revoke, kill, killAfter, handOver} {
		if !t.Failed() && uint64(s.happened[names[a]]) < n/50 {
			t.Errorf("VOID: in %d schedules %q happened %d times only", n, names[a], s.happened[names[a]])
		}
	}
}

// try runs the schedule of a seed, and tells of a failure as shortly as it can.
func try(t *testing.T, all []*scenario, seed uint64) *bench {
	t.Helper()
	c := of(all, seed)
	s := generate(seed, c)
	b, err := judge(t.Context(), c, s, nothing)
	if err != nil {
		s = s.shrink(fails(t.Context(), c, nothing))
		_, err = judge(t.Context(), c, s, nothing)
		t.Errorf("EDICT_SEED=%d (%s): %v\nof the schedule this is enough:\n%s", seed, c.name, err, s)
	}
	return b
}

// fails returns what reports whether a schedule fails.
func fails(ctx context.Context, c *scenario, p plant) func(schedule) bool {
	return func(s schedule) bool {
		_, err := judge(ctx, c, s, p)
		return err != nil
	}
}

// TestPlantedFaults: a controller that loses something is found by the schedules
// that run by default, and what is left of the schedule still shows it.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	all := scenarios(t)
	for name, p := range map[string]plant{"a late event is forgotten": forgetsEvents, "a new list deletes nothing": forgetsDeletions, "a lost write counts as made": takesLostForDone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed, found := first(t.Context(), all, p, count(t))
			if !found {
				t.Fatal("no schedule finds it")
			}
			c := of(all, seed)
			s := generate(seed, c)
			short := s.shrink(fails(t.Context(), c, p))
			_, err := judge(t.Context(), c, short, p)
			if err == nil || len(short.steps) > 12 {
				t.Errorf("of %d steps %d are left, which say: %v", len(s.steps), len(short.steps), err)
			}
			t.Logf("seed %d, %d of %d steps: %v\n%s", seed, len(short.steps), len(s.steps), err, short)
		})
	}
}

// TestDeletedBeforeItWasSeen: others delete what a policy has made while no watch has
// shown it, so that no event tells of it. It is made again; a controller that does
// not miss it is found out.
func TestDeletedBeforeItWasSeen(t *testing.T) {
	t.Parallel()
	all := scenarios(t)
	copies := all[len(all)-1]
	source := func(namespace string) object {
		return object{
			"apiVersion": "v1", "kind": "ConfigMap", "data": object{"zone": "a", "text": "1"},
			"metadata": object{"namespace": namespace, "name": "map-0", "finalizers": []any{"fault.edict.dev/copy"}}, // so the copy is all that is written
		}
	}
	found := 0
	for feed := range 8 {
		s := schedule{objects: []object{source("source")}, changes: []alteration{{source("target"), true}}, steps: []step{{lag, feed, 0}}}
		for range 6 {
			s.steps = append(s.steps, step{work, 0, 0})
		}
		s.steps = append(s.steps, step{change, 0, 0}, step{relist, feed, 0})
		if _, err := judge(t.Context(), copies, s, nothing); err != nil {
			t.Errorf("feed %d: %v", feed, err)
		}
		if _, err := judge(t.Context(), copies, s, forgetsTheUnseen); err != nil {
			found++
		}
	}
	if found == 0 {
		t.Error("VOID: nothing was deleted before it was seen")
	}
}

// TestDeletedBehindALateWatch: the watch of what a policy makes is minutes behind
// when the primary is deleted. What was made is deleted with it all the same.
func TestDeletedBehindALateWatch(t *testing.T) {
	t.Parallel()
	all := scenarios(t)
	copies := all[len(all)-1]
	source := object{"apiVersion": "v1", "kind": "ConfigMap", "data": object{"zone": "a", "text": "1"}, "metadata": object{"namespace": "source", "name": "map-0"}}
	const fiveMinutes = 4
	for feed := range 8 {
		s := schedule{objects: []object{source}, changes: []alteration{{source, true}}, steps: []step{{lag, feed, 0}, {work, 0, 0}, {work, 0, 0}, {tick, 0, 0}, {change, 0, 0}}}
		for range 3 {
			s.steps = append(s.steps, step{work, 0, 0}, step{tick, fiveMinutes, 0}, step{work, 0, 0})
		}
		if _, err := judge(t.Context(), copies, s, nothing); err != nil {
			t.Errorf("feed %d: %v", feed, err)
		}
	}
}

// first finds the first seed whose schedule shows a fault.
func first(ctx context.Context, all []*scenario, p plant, n uint64) (seed uint64, found bool) {
	for seed = range n {
		c := of(all, seed)
		if fails(ctx, c, p)(generate(seed, c)) {
			return seed, true
		}
	}
	return 0, false
}

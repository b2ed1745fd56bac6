package run

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/run/shards"
)

// underWay is an evaluation of a key that has begun and not ended.
type underWay struct {
	key  eval.Key
	at   *replica
	ctx  context.Context
	end  func()
	left int // looks until it ends
}

// evaluations are those under way in a fleet.
type evaluations struct {
	fleet  *fleet
	random *rand.Rand
	all    []underWay
}

// begin begins some evaluations where that is allowed.
func (e *evaluations) begin() {
	for _, r := range e.fleet.replicas {
		key := keys[e.random.IntN(len(keys))]
		if claim, end, ok := r.own.Begin(about, key); ok {
			e.all = append(e.all, underWay{key, r, claim.With(context.Background()), end, e.random.IntN(30)})
		}
	}
}

// end ends those that have lasted long enough.
func (e *evaluations) end() {
	var left []underWay
	for _, one := range e.all {
		if one.left--; one.left < 0 {
			one.end()
			continue
		}
		left = append(left, one)
	}
	e.all = left
}

// judge fails if two replicas could write about one key now. With strictly, the other one
// must not even have an evaluation of it under way: a request may be on its way.
func (e *evaluations) judge(strictly bool) {
	e.fleet.t.Helper()
	writers := e.fleet.writers()
	for _, one := range e.all {
		if by := writers[one.key]; by != "" && e.fleet.replicas[by] != one.at && (strictly || one.at.gate(one.ctx) == nil) {
			e.fleet.t.Fatalf("%s may write about %s while another replica does", by, one.key)
		}
	}
}

// need sets what the policy needs, which each replica finds by itself.
func (f *fleet) need(phase shards.Phase) {
	for _, r := range f.replicas {
		r.mu.Lock()
		r.needs = shards.Placement{}
		if phase != "" {
			r.needs["p"] = phase
		}
		r.mu.Unlock()
	}
}

// TestMovingPolicies: however often and quickly a policy is gathered and scattered, no two
// replicas write about one key, also by evaluations that began before. Where no replica loses
// the API server, one waits until those of the other have ended.
func TestMovingPolicies(t *testing.T) {
	for seed := range uint64(16) {
		synctest.Test(t, func(t *testing.T) {
			random, strictly := rand.New(rand.NewPCG(seed, 4)), seed%2 == 0
			f := newFleet(t, 4)
			names := []string{"a", "b", "c"}
			for _, name := range names {
				f.start(name, 4)
			}
			e := &evaluations{fleet: f, random: random}
			for tick := range 1500 {
				<-time.After(100 * time.Millisecond)
				synctest.Wait()
				e.judge(strictly)
				e.end()
				e.begin()
				if tick%(20+random.IntN(60)) == 0 {
					f.need([]shards.Phase{"", shards.Whole, shards.Led}[random.IntN(3)])
				}
				if !strictly && tick%50 == 0 {
					f.replicas[names[random.IntN(len(names))]].cut([]func(string) bool{all, none, rosterOnly, none}[random.IntN(4)])
				}
			}
			for _, one := range e.all {
				one.end()
			}
			f.stop()
		})
	}
}

// TestMovesSoon: a policy has a writer for each key again when all replicas have said that
// nothing is under way any more, and one that does not say it is waited for.
func TestMovesSoon(t *testing.T) {
	for name, tc := range map[string]struct {
		silent bool // a replica of an earlier version
		within time.Duration
		rests  bool // so long after the change there is none
	}{
		"all say it":       {false, 6 * time.Second, false},
		"one does not say": {true, 20 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 4)
			f.start("a", 4)
			b := f.start("b", 4)
			f.pass(20 * time.Second)
			b.mu.Lock()
			b.unsettled = tc.silent
			b.mu.Unlock()
			for _, phase := range []shards.Phase{shards.Led, shards.Whole, ""} {
				f.need(phase)
				f.pass(6 * time.Second)
				if rests := len(f.writers()) == 0; rests != tc.rests {
					t.Errorf("%s: %q: without writers: %t", name, phase, rests)
				}
				f.pass(tc.within - 6*time.Second)
				if n := len(f.writers()); n != len(keys) {
					t.Errorf("%s: %q: %d of %d keys have a writer", name, phase, n, len(keys))
				}
			}
			f.stop()
		})
	}
}

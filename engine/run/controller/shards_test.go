package controller

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/informers"
	"github.com/edict-dev/edict/engine/run/shards"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

// TestAcquiredKeysAreAWave: the keys of a shard that is taken over wait for what happens
// to those that were held before; and so do those of a policy that is placed here.
func TestAcquiredKeysAreAWave(t *testing.T) {
	t.Parallel()
	for name, acquire := range map[string]func(r *Runtime, p *plan.Policy){
		"a shard":  func(r *Runtime, _ *plan.Policy) { r.Acquire(1) },
		"a policy": func(r *Runtime, p *plan.Policy) { r.Place(shards.Placement{p.Name: shards.Whole}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := reconcile.NewGroup(world.NewStore(), nil, schema.NewSet(schema.Builtin()))
			p := fixture.Checker().Text(fixture.Labelling("a").Read().Units[0]).Plan
			c := group.Add(p)
			for i := range 40 {
				group.Put(t.Context(), p.Primary.Source, map[string]any{
					"apiVersion": p.Primary.GVK.APIVersion, "kind": p.Primary.GVK.Kind,
					"metadata": map[string]any{"name": fmt.Sprintf("waits-%02d", i), "namespace": "n", "resourceVersion": "1"},
				})
			}
			w := &worker{order: newOrder()}
			w.queue = newQueue(t.Name(), w.order)
			defer w.queue.ShutDown()
			r := &Runtime{options: Options{Owned: shards.NewOwnership(2)}, group: group, queues: &informers.Queues{}, watching: t.Context(), controllers: map[string]*controller{}}
			r.options.Owned.Open(shards.Spread(2).OfPolicy(p.Name))
			r.queues.Subscribe(c.Policy.ID(), w)
			acquire(r, p)
			acquired := w.queue.Len()
			r.queues.Enqueue(c.Policy.ID(), []eval.Key{named("happens")})
			first, _ := w.queue.Get()
			if acquired < 10 || first.Name != "happens" || !strings.HasPrefix(next(w).Name, "waits-") {
				t.Errorf("%d keys are taken over, the first is %s", acquired, first)
			}
		})
	}
}

// TestShadowsAreLed: a policy in Shadow mode is evaluated by the leader, which alone runs
// it, and so is the enforced one of its name, whichever was first.
func TestShadowsAreLed(t *testing.T) {
	t.Parallel()
	limited := fixture.Policy("p", "a") + "  limits: {changes: {perWindow: 10}}\n"
	for name, modes := range map[string][]string{
		"the enforced one is first": {"", "Shadow"}, "it is first": {"Shadow", ""}, "it is alone": {"Shadow"},
	} {
		group := reconcile.NewGroup(world.NewStore(), nil, schema.NewSet(schema.Builtin()))
		for _, mode := range modes {
			v := fixture.Checker().Text(fixture.ConfigMap("m", mode, map[string]string{"p.yaml": limited}).Read().Units[0])
			if v.Plan == nil {
				t.Fatal(v.Problems)
			}
			group.Add(v.Plan)
		}
		r := &Runtime{group: group}
		if diff := cmp.Diff(shards.Placement{"p": shards.Led}, r.Gathered()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestStepwisePoliciesAreLed: the leader has all keys of a policy whose revisions come into
// force in steps, and knows when it has.
func TestStepwisePoliciesAreLed(t *testing.T) {
	t.Parallel()
	r := &Runtime{options: Options{Owned: shards.NewOwnership(2)}, group: reconcile.NewGroup(world.NewStore(), nil, schema.NewSet(schema.Builtin()))}
	r.Stepwise(map[string]bool{"p": true})
	if diff := cmp.Diff(shards.Placement{"p": shards.Led}, r.Gathered()); diff != "" {
		t.Error(diff)
	}
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"nothing is held", func() {}, false},
		{"shard 0 is held", func() { r.Acquire(0) }, false},
		{"it is gathered", func() { r.Place(shards.Placement{"p": shards.Gathering}) }, false},
		{"it is led", func() { r.Place(shards.Placement{"p": shards.Led}) }, true},
		{"another shard is taken over", func() { r.Acquire(1) }, true},
		{"another leads", func() { _ = r.Release(t.Context(), 0) }, false},
	} {
		step.do()
		if got := r.Undivided("p"); got != step.want {
			t.Errorf("%s: undivided: %t", step.name, got)
		}
	}
	if alone := (&Runtime{}); !alone.Undivided("p") {
		t.Error("without shards it is divided")
	}
}

// TestUndividedIsNotedInOrder: a shard is taken over beside a change of the placement, and
// what was true before both does not stay.
func TestUndividedIsNotedInOrder(t *testing.T) {
	t.Parallel()
	before := shards.Placement{} // many, so that to note them takes time
	for i := range 500 {
		before["q"+strconv.Itoa(i)] = shards.Whole
	}
	after := maps.Clone(before)
	after["p"] = shards.Led
	for range 100 {
		r := &Runtime{options: Options{Owned: shards.NewOwnership(2)}, group: reconcile.NewGroup(world.NewStore(), nil, schema.NewSet(schema.Builtin()))}
		r.Place(before)
		var both sync.WaitGroup
		both.Go(func() { r.Acquire(0) })
		both.Go(func() { r.Place(after) })
		both.Wait()
		if !r.Undivided("p") {
			t.Fatal("the leader has all of the policy, and does not know it")
		}
	}
}

// takenOver is a queue that looks at what is added to it.
type takenOver struct{ look func() }

func (takenOver) Add(eval.Key)       {}
func (q takenOver) AddWave(eval.Key) { q.look() }

// TestUndividedAfterTheTakeover: the leader has all of a policy when its keys are taken over,
// and not before, whatever else is noted meanwhile. What it had it keeps.
func TestUndividedAfterTheTakeover(t *testing.T) {
	t.Parallel()
	for name, takeover := range map[string]struct{ before, last func(*Runtime) }{
		"shard 0 comes last":    {func(r *Runtime) { r.Place(shards.Placement{"p": shards.Led}) }, func(r *Runtime) { r.Acquire(0) }},
		"the policy comes last": {func(r *Runtime) { r.Acquire(0); r.Place(shards.Placement{"p": shards.Gathering}) }, func(r *Runtime) { r.Place(shards.Placement{"p": shards.Led}) }},
	} {
		group := reconcile.NewGroup(world.NewStore(), nil, schema.NewSet(schema.Builtin()))
		p := fixture.Checker().Text(fixture.Labelling("a").Read().Units[0]).Plan
		c := group.Add(p)
		group.Put(t.Context(), p.Primary.Source, map[string]any{
			"apiVersion": p.Primary.GVK.APIVersion, "kind": p.Primary.GVK.Kind,
			"metadata": map[string]any{"name": "a", "namespace": "n", "resourceVersion": "1"},
		})
		r := &Runtime{options: Options{Owned: shards.NewOwnership(2)}, group: group, queues: &informers.Queues{}, watching: t.Context(), controllers: map[string]*controller{}}
		takeover.before(r)
		looks := 0
		r.queues.Subscribe(c.Policy.ID(), takenOver{func() {
			looks++
			r.noteUndivided() // as another shard comes
			if r.Undivided("p") {
				t.Errorf("%s: the leader has all of the policy before its keys are taken over", name)
			}
		}})
		takeover.last(r)
		if !r.Undivided("p") || looks == 0 {
			t.Errorf("%s: the leader has all of the policy, and does not know it", name)
		}
		r.takeOver(func() {})
		if r.noteUndivided(); !r.Undivided("p") {
			t.Errorf("%s: the leader no longer knows it while it takes another shard", name)
		}
	}
}

func next(w *worker) eval.Key {
	key, _ := w.queue.Get()
	return key
}

package controller

import (
	"fmt"
	"strings"
	"testing"

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

func next(w *worker) eval.Key {
	key, _ := w.queue.Get()
	return key
}

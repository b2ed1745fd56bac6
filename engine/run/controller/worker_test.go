package controller

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/reconcile"
)

// TestPostponed: a key that was not decided about, because it is at its pace, still fails
// as it did before, and is tried again.
func TestPostponed(t *testing.T) {
	t.Parallel()
	key := eval.Key{Name: "a"}
	w := &worker{health: newHealth("p"), queue: newQueue("postponed", newOrder())}
	t.Cleanup(w.queue.ShutDown)
	w.health.failing[key] = failure{since: time.Now(), text: "odd"}
	w.queue.AddRateLimited(key)
	got, _ := w.queue.Get()
	w.queue.Done(got)
	w.complete(nil, key, reconcile.Result{Next: time.Now()})
	if len(w.health.failing) != 1 || w.queue.NumRequeues(key) != 1 {
		t.Errorf("failing: %v, tried again %d times", w.health.failing, w.queue.NumRequeues(key))
	}
	if got, _ := w.queue.Get(); got != key {
		t.Errorf("%v is tried again", got)
	}
	w.queue.Done(key)
}

// TestTheEndCountsWrites: when a worker ends, the writes without a line are counted.
func TestTheEndCountsWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		var background sync.WaitGroup
		watching, stop := context.WithCancel(t.Context())
		w := &worker{number: 1, queue: newQueue("ends", newOrder()), watching: watching, background: background.Go, results: resultLog{log: slog.New(slog.NewTextHandler(&text, nil))}}
		w.start()
		for range 60 {
			w.results.admit(writes{policy: "p"})
		}
		stop()
		background.Wait()
		if !strings.Contains(text.String(), "policy=p key=\"\" writes=10 ") {
			t.Errorf("%q", text.String())
		}
	})
}

// TestWaiting: the keys that are left in the queue are counted as one is taken.
func TestWaiting(t *testing.T) {
	t.Parallel()
	w := &worker{id: "waiting", health: newHealth("waiting"), queue: newQueue("waiting", newOrder())}
	t.Cleanup(w.queue.ShutDown)
	w.health.block("patch on nodes")
	for _, name := range []string{"a", "b", "c"} {
		w.Add(eval.Key{Name: name})
	}
	key, _ := w.queue.Get()
	if w.process(t.Context(), key); w.health.waiting.Load() != 2 {
		t.Errorf("%d wait, want 2", w.health.waiting.Load())
	}
}

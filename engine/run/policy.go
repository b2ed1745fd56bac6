package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// supervise runs one policy: it waits for its kinds, compiles it against the
// cluster's schemas, and works until the context ends.
func (t *term) supervise(ctx context.Context, b *source.Bundle, name string) {
	log := t.Log.With(observe.LogPolicy, name)
	looked := sync.OnceFunc(t.looked.Done)
	defer looked()
	compiled := b.Policy(name)
	if t.unmet(ctx, compiled) != nil {
		looked()
	}
	if !t.await(ctx, compiled) {
		return
	}
	compiled, err := t.recompile(ctx, b, name, compiled)
	if err != nil {
		log.Error("the policy does not fit the cluster's schemas", "error", err.Error())
		return
	}
	w := &worker{term: t, controller: t.group.Add(compiled), queue: newQueue(name)}
	t.feeds.subscribe(w)
	t.wg.Go(func() { <-ctx.Done(); w.queue.ShutDown() })
	looked()
	t.looked.Wait() // what all policies read is known then, and watched once
	if !t.feeds.open(ctx, w.controller.Sources()) {
		return
	}
	t.group.Replay(ctx, w.controller)
	w.controller.MarkInitial()
	for _, key := range w.controller.Keys() {
		w.queue.Add(key)
	}
	observe.Info.WithLabelValues(name, compiled.Revision).Set(1)
	t.setReady(name, true)
	log.Info("the policy runs", observe.LogRevision, compiled.Revision)
	for range t.Workers {
		t.wg.Go(func() { w.work(t.working) })
	}
}

// await waits until the cluster serves every kind that the policy reads, and
// allows this process all that the policy does.
func (t *term) await(ctx context.Context, compiled *plan.Policy) bool {
	told := ""
	for {
		missing := t.unmet(ctx, compiled)
		if missing == nil {
			observe.Waiting.WithLabelValues(compiled.Name).Set(0)
			return true
		}
		if text := missing.Error(); text != told {
			t.Log.Warn("the policy waits", observe.LogPolicy, compiled.Name, "reason", text)
			told = text
		}
		observe.Waiting.WithLabelValues(compiled.Name).Set(1)
		t.setReady(compiled.Name, true) // waiting is no reason to take traffic away
		select {
		case <-ctx.Done():
			return false
		case <-time.After(t.PollInterval):
		}
	}
}

// missing says which kind the cluster does not serve; nil when it serves all.
func (t *term) missing(compiled *plan.Policy) error {
	for _, need := range reconcile.Needs(compiled) {
		gvk := groupVersionKind(need.Source.GVK)
		_, err := t.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("the cluster does not serve %s", need.Source.GVK)
		}
		if err != nil {
			return fmt.Errorf("asking for %s: %w", need.Source.GVK, err)
		}
	}
	return nil
}

func groupVersionKind(gvk schema.GVK) kschema.GroupVersionKind {
	return kschema.FromAPIVersionAndKind(gvk.APIVersion, gvk.Kind)
}

// recompile types the policy by the cluster's own schemas.
func (t *term) recompile(ctx context.Context, b *source.Bundle, name string, compiled *plan.Policy) (*plan.Policy, error) {
	known := schema.NewSet(b.Schemas)
	if err := t.awaitSchemas(ctx, known, compiled); err != nil {
		t.Log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, name, "error", err.Error())
	}
	t.group.Schemas().AddAll(known)
	again, problems, err := b.Recompile(name, known, t.Params)
	if err != nil {
		return nil, err
	}
	if again == nil {
		return nil, fmt.Errorf("%w", problems)
	}
	return again, nil
}

// worker reconciles the keys of one policy.
type worker struct {
	*term
	controller *reconcile.Controller
	queue      workqueue.TypedRateLimitingInterface[eval.Key]
}

// The back-off of a failing key.
const (
	minBackOff = 5 * time.Millisecond
	maxBackOff = 60 * time.Second
)

func newQueue(name string) workqueue.TypedRateLimitingInterface[eval.Key] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[eval.Key](minBackOff, maxBackOff),
		workqueue.TypedRateLimitingQueueConfig[eval.Key]{Name: name})
}

func (w *worker) work(ctx context.Context) {
	for {
		key, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		observe.QueueDepth.WithLabelValues(w.controller.Policy.Name).Set(float64(w.queue.Len()))
		w.settle(key, w.reconcile(ctx, key))
		w.queue.Done(key)
	}
}

// reconcile turns a panic into a failure of the key.
func (w *worker) reconcile(ctx context.Context, key eval.Key) (r reconcile.Result) {
	defer func() {
		if v := recover(); v != nil {
			r = reconcile.Result{Err: fmt.Errorf("a fault of the engine: %v\n%s", v, debug.Stack())}
		}
	}()
	return w.controller.Reconcile(ctx, key, time.Now())
}

// settle says when the key is looked at again.
func (w *worker) settle(key eval.Key, r reconcile.Result) {
	w.report(w.controller, key, r)
	if !r.Next.IsZero() {
		w.queue.AddAfter(key, max(time.Until(r.Next), time.Millisecond))
	}
	if r.Err != nil {
		w.queue.AddRateLimited(key)
		return
	}
	w.queue.Forget(key)
}

// report logs what became of a key.
func (t *term) report(c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	t.exports.report(t.working, c, key, r)
	log := t.Log.With(observe.LogPolicy, c.Policy.Name, observe.LogKey, key.String())
	if r.Decision != nil {
		for _, line := range r.Decision.Log {
			log.Log(context.Background(), levelOf(line.Level), line.Message, "at", line.At.String())
		}
	}
	explain(log, r.Decision)
	for _, o := range r.Outcomes {
		if o.Err == nil && !o.Skipped && !o.Gone {
			log.Info("wrote", observe.LogRule, o.Effect.Rules, "verb", o.Effect.Verb, "kind", o.Effect.Target.Kind, "name", o.Effect.Target.Name, "subresource", o.Effect.Subresource)
		}
	}
	for _, err := range r.Reported {
		log.Error("failed, and will be tried again", "error", err.Error())
	}
	if r.Err != nil && !r.Quiet && !errors.Is(r.Err, context.Canceled) {
		log.Error("failed, and will be tried again", "error", r.Err.Error())
	}
}

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
func (p *process) supervise(ctx context.Context, b *source.Bundle, name string) {
	log := p.Log.With(observe.LogPolicy, name)
	looked := sync.OnceFunc(p.looked.Done)
	defer looked()
	compiled := b.Policy(name)
	if p.missing(compiled) != nil {
		looked()
	}
	if !p.await(ctx, compiled) {
		return
	}
	compiled, err := p.recompile(ctx, b, name, compiled)
	if err != nil {
		log.Error("the policy does not fit the cluster's schemas", "error", err.Error())
		return
	}
	w := &worker{process: p, controller: p.group.Add(compiled), queue: newQueue(name)}
	p.feeds.subscribe(w)
	p.wg.Go(func() { <-ctx.Done(); w.queue.ShutDown() })
	looked()
	p.looked.Wait() // what all policies read is known then, and watched once
	if !p.feeds.open(ctx, w.controller.Sources()) {
		return
	}
	p.group.Replay(ctx, w.controller)
	w.controller.MarkInitial()
	for _, key := range w.controller.Keys() {
		w.queue.Add(key)
	}
	observe.Info.WithLabelValues(name, compiled.Revision).Set(1)
	p.setReady(name, true)
	log.Info("the policy runs", observe.LogRevision, compiled.Revision)
	for range p.Workers {
		p.wg.Go(func() { w.work(ctx) })
	}
}

// await waits until the cluster serves every kind that the policy reads.
func (p *process) await(ctx context.Context, compiled *plan.Policy) bool {
	told := ""
	for {
		missing := p.missing(compiled)
		if missing == nil {
			observe.Waiting.WithLabelValues(compiled.Name).Set(0)
			return true
		}
		if text := missing.Error(); text != told {
			p.Log.Warn("the policy waits", observe.LogPolicy, compiled.Name, "reason", text)
			told = text
		}
		observe.Waiting.WithLabelValues(compiled.Name).Set(1)
		p.setReady(compiled.Name, true) // waiting is no reason to take traffic away
		select {
		case <-ctx.Done():
			return false
		case <-time.After(p.PollInterval):
		}
	}
}

// missing says which kind the cluster does not serve; nil when it serves all.
func (p *process) missing(compiled *plan.Policy) error {
	for _, need := range reconcile.Needs(compiled) {
		gvk := groupVersionKind(need.Source.GVK)
		_, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
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
func (p *process) recompile(ctx context.Context, b *source.Bundle, name string, compiled *plan.Policy) (*plan.Policy, error) {
	known := schema.NewSet(b.Schemas)
	if err := p.awaitSchemas(ctx, known, compiled); err != nil {
		p.Log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, name, "error", err.Error())
	}
	p.group.Schemas().AddAll(known)
	again, problems, err := b.Recompile(name, known, p.Params)
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
	*process
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
	log := w.Log.With(observe.LogPolicy, w.controller.Policy.Name, observe.LogKey, key.String())
	if r.Decision != nil {
		for _, line := range r.Decision.Log {
			log.Log(context.Background(), levelOf(line.Level), line.Message, "at", line.At.String())
		}
	}
	explain(log, r.Decision)
	for _, o := range r.Outcomes {
		if o.Err == nil && !o.Skipped && !o.Gone {
			log.Info("wrote", observe.LogRule, o.Effect.Rules, "kind", o.Effect.Target.Kind, "name", o.Effect.Target.Name, "subresource", o.Effect.Subresource)
		}
	}
	for _, err := range r.Reported {
		log.Error("failed, and will be tried again", "error", err.Error())
	}
	if !r.Next.IsZero() {
		w.queue.AddAfter(key, max(time.Until(r.Next), time.Millisecond))
	}
	if r.Err != nil {
		if !r.Quiet && !errors.Is(r.Err, context.Canceled) {
			log.Error("failed, and will be tried again", "error", r.Err.Error(), "failures", w.queue.NumRequeues(key)+1)
		}
		w.queue.AddRateLimited(key)
		return
	}
	w.queue.Forget(key)
}

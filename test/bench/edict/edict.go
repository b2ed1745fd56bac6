// Package edict has the engine with a shipped policy, as the controller runs it: events
// are taken into the read model, keys are reconciled with records and brakes, and
// patches are encoded. Only the connections to the API server are not there.
package edict

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/run/informers"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/bench/byhand"
	"github.com/edict-dev/edict/test/bench/stream"
)

// Policy is a compiled policy.
type Policy struct {
	plan    *plan.Policy
	schemas *schema.Set
}

// Load compiles a policy of the folder policies.
func Load(name string) (*Policy, error) {
	bundle, err := source.Load([]string{filepath.Join("policies", name+".yaml")}, source.Options{})
	if err != nil {
		return nil, err
	}
	if err := bundle.Err(); err != nil {
		return nil, err
	}
	return &Policy{plan: bundle.Policies[0], schemas: bundle.Schemas}, nil
}

// Options are what an engine is connected to.
type Options struct {
	// Answers are those of the scheduler extender.
	Answers expr.Answerer
	// Send takes the patches; Plain takes them without encoding them.
	Send  func(byhand.Write)
	Plain bool
	// Still does not wait for writes to come back as events.
	Still bool
}

// Engine runs one policy.
type Engine struct {
	ctx        context.Context //nolint:containedctx // that of one benchmark
	group      *reconcile.Group
	controller *reconcile.Controller
	// sources and watches are those of the kinds that the policy reads.
	sources map[string]world.Source
	watches map[string]*stream.Stream
	// Cost is that of the last decision, in units of CEL.
	Cost uint64
}

// decisions is how many records are kept, which is the default of edict run.
const decisions = 1024

// New starts an engine with an empty read model.
func New(ctx context.Context, p *Policy, o Options) (*Engine, error) {
	e := &Engine{ctx: ctx, sources: map[string]world.Source{}, watches: map[string]*stream.Stream{}}
	store := world.NewStore()
	e.group = reconcile.NewGroup(store, &writer{send: o.Send, plain: o.Plain, still: o.Still}, p.schemas)
	e.group.Answers = o.Answers
	e.group.SetGuard(guard.New(nil).Assuming())
	e.group.Records = &record.Log{Prefix: "bench-", Size: decisions}
	e.group.Brakes = brake.New(Unbraked(), nil)
	e.controller = e.group.Add(p.plan)
	for _, s := range e.controller.Sources() {
		decoder := &readmodel.Decoder{
			Source: s, Type: p.schemas.Of(s.GVK), Mask: store.Mask(s),
			Known: func(namespace, name []byte) *world.Object { return store.Snapshot().Table(s).Find(namespace, name) },
		}
		watch, err := stream.Open(informers.Serializer(decoder), kschema.FromAPIVersionAndKind(s.APIVersion, s.Kind).GroupVersion(), runtime.ContentTypeJSON)
		if err != nil {
			return nil, err
		}
		e.sources[s.Kind], e.watches[s.Kind] = s, watch
	}
	return e, nil
}

// Unbraked returns settings of the brakes that keep nothing back: the same key is decided
// about again and again.
func Unbraked() brake.Settings { return brake.Settings{Virtual: true} }

// Put takes in an event of a watch of a kind, as JSON, and returns how many keys it
// wakes. A kind that the policy does not read is not watched.
func (e *Engine) Put(kind string, event []byte) (int, error) {
	watch, ok := e.watches[kind]
	if !ok {
		return 0, nil
	}
	o, err := watch.Next(event)
	if err != nil {
		return 0, err
	}
	return len(e.group.PutObject(e.ctx, e.sources[kind], informers.ObjectOf(o))), nil
}

// Delete takes in that an object, one without a namespace, is gone.
func (e *Engine) Delete(kind, name string) { e.group.Delete(e.ctx, e.sources[kind], "", name) }

// Reconcile decides about a key and writes what comes of it. An error reports that
// anything went wrong.
func (e *Engine) Reconcile(name string, now time.Time) error {
	r := e.controller.Reconcile(e.ctx, eval.Key{Name: name}, now)
	if err := errors.Join(r.Err, r.Final); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if r.Decision == nil {
		return fmt.Errorf("%s: nothing was decided", name)
	}
	e.Cost = r.Decision.Cost
	for _, p := range r.Decision.Problems {
		return fmt.Errorf("%s: rule %q: %w", name, p.Rule, p.Err)
	}
	return errors.Join(slices.Clone(r.Reported)...)
}

// Again returns the engine with a controller that knows nothing yet, over the same
// objects. Forget has to be called.
func (e *Engine) Again(p *Policy) *Engine {
	next := *e
	next.controller = e.group.Join(p.plan)
	e.group.Replay(e.ctx, next.controller)
	next.controller.MarkInitial()
	return &next
}

// Forget removes the engine's controller.
func (e *Engine) Forget() { e.group.Remove(e.controller) }

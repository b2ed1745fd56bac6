package intake

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/objects"
)

// policies are those that read the objects, by the folder policies.
var policies = []string{"agent-node-label", "storage-pool-eligibility", "replica-scheduling"}

func load() (*source.Bundle, error) {
	var paths []string
	for _, name := range policies {
		paths = append(paths, filepath.Join("policies", name+".yaml"))
	}
	bundle, err := source.Load(paths, source.Options{})
	if err != nil {
		return nil, err
	}
	return bundle, bundle.Err()
}

// engine is Edict's side.
type engine struct {
	ctx   context.Context //nolint:containedctx // that of one benchmark
	group *reconcile.Group
	// plain is a store with the same sources, masks and indexes, and without policies.
	plain    *world.Store
	decoders map[string]*readmodel.Decoder
}

// decisions is how many records are kept, which is the default of edict run.
const decisions = 1024

func newEngine(ctx context.Context, b *source.Bundle) *engine {
	e := &engine{ctx: ctx, plain: world.NewStore(), decoders: map[string]*readmodel.Decoder{}}
	store := world.NewStore()
	e.group = joined(store, b)
	joined(e.plain, b)
	for _, s := range e.group.AllSources() {
		e.decoders[s.Kind] = &readmodel.Decoder{
			Source: s, Type: b.Schemas.Of(s.GVK), Mask: store.Mask(s),
			Known: func(namespace, name []byte) *world.Object { return store.Snapshot().Table(s).Find(namespace, name) },
		}
	}
	return e
}

// joined returns a group with all policies in force.
func joined(store *world.Store, b *source.Bundle) *reconcile.Group {
	g := reconcile.NewGroup(store, edict.Nothing{}, b.Schemas)
	g.Counts = func(*plan.Policy) *observe.Counts { return observe.Unseen() }
	g.Answers = edict.Bare{}
	g.SetGuard(guard.New(nil).Assuming())
	g.Brakes = brake.New(edict.Unbraked(), nil)
	g.Records = &record.Log{Prefix: "bench-", Size: decisions}
	for _, p := range b.Policies {
		g.Add(p)
	}
	return g
}

// decode decodes objects.
func (e *engine) decode(kind string, each [][]byte, into []*world.Object) error {
	d := e.decoders[kind]
	for i, text := range each {
		o, err := d.Decode(text)
		if err != nil {
			return err
		}
		into[i] = o
	}
	return nil
}

// store puts objects into tables and indexes alone.
func (e *engine) store(kind string, all []*world.Object) {
	for _, o := range all {
		e.plain.Put(e.decoders[kind].Source, o)
	}
}

// take puts objects into tables and indexes, and maps them to keys.
func (e *engine) take(kind string, all []*world.Object) {
	for _, o := range all {
		e.group.PutObject(e.ctx, e.decoders[kind].Source, o)
	}
}

// event does for an object all that comes before a decision.
func (e *engine) event(kind string, text []byte) error {
	d := e.decoders[kind]
	o, err := d.Decode(text)
	if err == nil {
		e.group.PutObject(e.ctx, d.Source, o)
	}
	return err
}

// decide evaluates keys of a policy.
func (e *engine) decide(c *reconcile.Controller, keys []eval.Key) error {
	for _, key := range keys {
		r := c.Reconcile(e.ctx, key, objects.Now)
		if err := errors.Join(r.Err, r.Final); err != nil || r.Decision == nil {
			return fmt.Errorf("%s: %s cannot be decided: %w", c.Policy.Name, key, err)
		}
		for _, p := range r.Decision.Problems {
			return fmt.Errorf("%s: %s, rule %q: %w", c.Policy.Name, key, p.Rule, p.Err)
		}
	}
	return nil
}

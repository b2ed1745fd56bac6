package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/watch"
	"github.com/edict-dev/edict/engine/world"
)

// reads is what a policy reads of the world, and the keys that this concerns. Its fields
// are not changed, so that no lock guards them.
type reads struct {
	policy *plan.Policy
	// watched selects the primary objects that are decided about.
	watched *selector.Selector
	store   *world.Store
	router  *watch.Router
	needs   []readmodel.Requirement
}

func newReads(p *plan.Policy, watched *selector.Selector, store *world.Store) reads {
	r := reads{policy: p, watched: watched, store: store, router: watch.NewRouter(p, watched), needs: readmodel.Requirements(p)}
	if watched != selector.Everything {
		for i := range r.needs {
			if r.needs[i].Source.GVK == p.Primary.GVK {
				r.needs[i].Mask = value.Merge(r.needs[i].Mask, labels)
			}
		}
	}
	return r
}

var labels = &value.Mask{Fields: map[string]*value.Mask{"metadata": {Fields: map[string]*value.Mask{"labels": value.KeepAll}}}}

// watches reports whether this installation decides about a key: by the labels of its
// object. A key without an object counts as one without labels if the policy decides about
// such keys; else only its pending runs are left.
func (r *reads) watches(snapshot *world.Snapshot, key eval.Key) bool {
	switch o := snapshot.Table(r.policy.Primary.Source).Get(key.Namespace, key.Name); {
	case o != nil:
		return r.watched.MatchesLabelsOf(o.Value)
	case r.policy.Primary.Optional:
		return r.watched.MatchesLabelsOf(value.Empty)
	default:
		return true
	}
}

// in returns what the policy reads in a snapshot.
func (r *reads) in(snapshot *world.Snapshot) reading { return reading{r.needs, snapshot} }

// sources returns the sources that the policy reads.
func (r *reads) sources() []world.Source {
	out := make([]world.Source, len(r.needs))
	for i, n := range r.needs {
		out[i] = n.Source
	}
	return out
}

// primary returns the object of a key, or nil.
func (r *reads) primary(snapshot *world.Snapshot, key eval.Key) *world.Object {
	p := r.policy.Primary
	o := snapshot.Table(p.Source).Get(key.Namespace, key.Name)
	if o == nil || !r.watched.MatchesLabelsOf(o.Value) || !p.Selects(o) && !p.Left(o) && !r.router.Left(key) {
		return nil
	}
	return o
}

// exists reports whether a key is to be decided about: its object is there, or the policy
// needs none.
func (r *reads) exists(snapshot *world.Snapshot, key eval.Key) bool {
	return r.primary(snapshot, key) != nil || r.policy.Primary.Optional && r.watches(snapshot, key)
}

// began reports whether an evaluation began to read something while that source
// changed: the change was mapped before the router knew of the reading, so the
// key is to be evaluated again.
func (r *reads) began(lookups []eval.Lookup, seen *world.Snapshot) bool {
	now := r.store.Snapshot()
	if now == seen {
		return false
	}
	for _, l := range lookups {
		if l.Ended {
			continue
		}
		if source := r.source(l); now.Table(source).Mark() != seen.Table(source).Mark() {
			return true
		}
	}
	return false
}

// source returns the source of a lookup.
func (r *reads) source(l eval.Lookup) world.Source {
	if l.Target {
		return r.policy.Targets[l.Input].Source
	}
	return r.policy.Inputs[l.Input].Source
}

// replay tells the router of everything in a snapshot, and returns the keys there are:
// those of primaries, and those that only inputs name.
func (r *reads) replay(ctx context.Context, snapshot *world.Snapshot) []eval.Key {
	found := map[eval.Key]bool{}
	for _, source := range r.sources() {
		for _, o := range snapshot.Table(source).All() {
			for _, key := range r.router.Change(ctx, source, nil, o) {
				found[key] = true
			}
		}
	}
	for _, key := range r.router.Keys() {
		found[key] = true
	}
	return slices.SortedFunc(maps.Keys(found), watch.CompareKeys)
}

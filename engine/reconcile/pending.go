package reconcile

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/watch"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// lookAgain is after how long a key is looked at again whose own writes have
	// not come back yet. Their events wake it as well.
	lookAgain = 50 * time.Millisecond
	// patience is how long a key waits for its own writes. A watch that is
	// broken for longer must not hold it up: a decision on an old state is
	// refused by the server then, as ever.
	patience = 10 * time.Second
)

// pending are writes of a key that the read model does not show yet. Deciding
// before it does would be deciding the same again: asking builtins with side
// effects once more, writing what the server refuses.
type pending struct {
	versions map[world.ID]written
	since    time.Time
}

// written is what a write led to.
type written struct {
	version string
	created bool
}

// wrote notes what a key has written.
func (c *Controller) wrote(key eval.Key, outcomes []apply.Outcome, now time.Time) {
	p := pending{since: now}
	for _, o := range outcomes {
		if o.Version.ResourceVersion == "" {
			continue
		}
		if p.versions == nil {
			p.versions = map[world.ID]written{}
		}
		made := o.Effect.Verb == eval.VerbCreate || o.Effect.Verb == eval.VerbApply || p.versions[o.Effect.Target].created
		p.versions[o.Effect.Target] = written{version: o.Version.ResourceVersion, created: made}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.versions == nil {
		delete(c.pending, key)
	} else {
		c.pending[key] = p
	}
}

// waits says whether the read model lacks a write of a key.
func (c *Controller) waits(key eval.Key, snapshot *world.Snapshot, now time.Time) bool {
	c.mu.Lock()
	p, ok := c.pending[key]
	c.mu.Unlock()
	if !ok || now.Sub(p.since) > patience {
		return false
	}
	for id, w := range p.versions {
		if !c.shows(snapshot, id, w) {
			return true
		}
	}
	return false
}

// undone returns the keys that have written an object which shows a later state now,
// and yet is what it was before: others have undone the write, and both came as one,
// in a new list. No change tells these keys.
func (g *Group) undone(source world.Source, o *world.Object) (out []Wake) {
	id := world.ID{GVK: source.GVK, Namespace: o.Namespace, Name: o.Name}
	for _, c := range g.Controllers() {
		for _, key := range c.wroteBefore(id, o.Version()) {
			out = append(out, Wake{Controller: c, Key: key})
		}
	}
	return out
}

// wroteBefore returns the keys that wait for a write of an object which led to an
// earlier version.
func (c *Controller) wroteBefore(id world.ID, version world.Version) (out []eval.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, p := range c.pending {
		w, ok := p.versions[id]
		if !ok {
			continue
		}
		order, err := resourceversion.CompareResourceVersion(version.ResourceVersion, w.version)
		if err == nil && order > 0 {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, watch.CompareKeys)
	return out
}

// shows says whether everything that the policy reads shows an object at a
// version or later. An object that is not there needs no waiting for, unless
// it was just made.
func (c *Controller) shows(snapshot *world.Snapshot, id world.ID, w written) bool {
	there := !w.created
	for _, need := range c.needs {
		if need.Source.GVK != id.GVK {
			continue
		}
		o := snapshot.Table(need.Source).Get(id.Namespace, id.Name)
		if o == nil {
			continue
		}
		there = true
		order, err := resourceversion.CompareResourceVersion(o.Version().ResourceVersion, w.version)
		if err == nil && order < 0 {
			return false
		}
	}
	return there
}

package reconcile

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/watch"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// lookAgain is after how long a key is looked at again whose own writes have
	// not come back yet. Their events wake it as well.
	lookAgain = 50 * time.Millisecond
	// patience is how long a key waits for its own writes. A watch that is
	// broken for longer must not hold it up: a decision on an old state is
	// refused by the server then, as ever. Only what the key has made and the server
	// has holds it up further: a decision without it would leave it behind.
	patience = 10 * time.Second
)

// pending are writes of a key that the read model does not show yet. Deciding
// before it does would be deciding the same again: asking builtins with side
// effects once more, writing what the server refuses.
type pending struct {
	// versions are those of the objects, in the order of the writes.
	versions []written
	since    time.Time
}

// written is what a write led to, or several of one object after each other.
type written struct {
	id      world.ID
	version string
	created bool
	// missed says that its source has come past the version, and the read model does
	// not show it.
	missed bool
}

// wrote notes what a key has written.
func (c *Controller) wrote(key eval.Key, outcomes []apply.Outcome, now time.Time) {
	p := pending{since: now}
	for _, o := range outcomes {
		if o.Version.ResourceVersion == "" {
			continue
		}
		w := written{id: o.Effect.Target, version: o.Version.ResourceVersion, created: o.Effect.Verb == eval.VerbCreate || o.Effect.Verb == eval.VerbApply}
		if last := len(p.versions) - 1; last >= 0 && p.versions[last].id == w.id {
			w.created = w.created || p.versions[last].created
			p.versions[last] = w
		} else {
			p.versions = append(p.versions, w)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.versions != nil {
		c.pending[key] = p
	} else {
		delete(c.pending, key)
	}
}

// waits reports whether the read model lacks a write of a key.
func (c *Controller) waits(ctx context.Context, key eval.Key, snapshot *world.Snapshot, now time.Time) bool {
	c.mu.Lock()
	p, ok := c.pending[key]
	c.mu.Unlock()
	if !ok {
		return false
	}
	late := now.Sub(p.since) > patience
	for i := range p.versions {
		w := &p.versions[i]
		switch {
		case c.shows(snapshot, w):
		case !late && !w.missed:
			return true
		case c.unseen(ctx, snapshot, w):
			c.waitOn(key, p, now)
			return true
		}
	}
	return false
}

// waitOn begins the patience with a key anew.
func (c *Controller) waitOn(key eval.Key, p pending, now time.Time) {
	versions := slices.Clone(p.versions)
	for i := range versions {
		versions[i].missed = false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[key] = pending{versions: versions, since: now}
}

// unseen asks the server whether it has an object that was made and that the policy
// ought to see, but does not.
func (c *Controller) unseen(ctx context.Context, snapshot *world.Snapshot, w *written) bool {
	id := w.id
	ours := slices.ContainsFunc(c.needs, func(need readmodel.Requirement) bool {
		return need.Source.Selector == "" && need.Source.May(id) && snapshot.Table(need.Source).Get(id.Namespace, id.Name) == nil
	})
	if !w.created || !ours {
		return false
	}
	_, uid, err := c.group.writer.Live(ctx, id)
	return err == nil && uid != ""
}

// undone returns the keys that have written an object which shows a later state now,
// and yet is what it was before: others have undone the write, and both came as one,
// in a new list. No change tells these keys.
func (g *Group) undone(source world.Source, o *world.Object) (out []Wake) {
	id := world.ID{GVK: source.GVK, Namespace: o.Namespace, Name: o.Name}
	for _, c := range g.all() {
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
		w := p.last(id)
		if w == nil {
			continue
		}
		order, err := resourceversion.CompareResourceVersion(version.ResourceVersion, w.version)
		if err == nil && order > 0 {
			out = append(out, key)
			c.echoes.drop(key)
		}
	}
	slices.SortFunc(out, watch.CompareKeys)
	return out
}

// last returns the last write of an object; nil is none.
func (p *pending) last(id world.ID) *written {
	for i := len(p.versions) - 1; i >= 0; i-- {
		if p.versions[i].id == id {
			return &p.versions[i]
		}
	}
	return nil
}

// Reached takes that the read model shows all changes of a source up to a version.
// It returns the keys that have made an object of it by then which is not there:
// others have deleted it while the watch was cut, so that no change tells of either.
// The server is asked before such a key is decided about.
func (g *Group) Reached(source world.Source, version string) (out []Wake) {
	if source.Selector != "" {
		return nil // what a selector leaves out is not gone
	}
	table := g.store.Snapshot().Table(source)
	for _, c := range g.all() {
		for _, key := range c.miss(source, table, version) {
			out = append(out, Wake{Controller: c, Key: key})
		}
	}
	return out
}

// miss returns the keys that have made an object of a source which is not in its
// table at a version, each once.
func (c *Controller) miss(source world.Source, table *world.Table, version string) (out []eval.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, p := range c.pending {
		versions, lost := p.versions, false
		for i := range p.versions {
			if w := &p.versions[i]; w.missed || !w.lost(source, table, version) {
				continue
			}
			if !lost {
				versions, lost = slices.Clone(versions), true // others may be reading it
			}
			versions[i].missed = true
		}
		if lost {
			c.pending[key] = pending{versions: versions, since: p.since}
			c.echoes.drop(key)
			out = append(out, key)
		}
	}
	slices.SortFunc(out, watch.CompareKeys)
	return out
}

// lost reports whether an object that was made is not in the table of its source at
// a version that is not older.
func (w *written) lost(source world.Source, table *world.Table, version string) bool {
	if !w.created || !source.May(w.id) || table.Get(w.id.Namespace, w.id.Name) != nil {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, w.version)
	return err == nil && order >= 0
}

// shows reports whether everything that the policy reads shows an object at a
// version or later. An object that is not there needs no waiting for, unless
// it was just made.
func (c *Controller) shows(snapshot *world.Snapshot, w *written) bool {
	there := !w.created
	for _, need := range c.needs {
		if need.Source.GVK != w.id.GVK {
			continue
		}
		o := snapshot.Table(need.Source).Get(w.id.Namespace, w.id.Name)
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

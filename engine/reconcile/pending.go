package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/readmodel"
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

// wrote notes what a key has written.
func (c *Controller) wrote(key eval.Key, outcomes []apply.Outcome, now time.Time) {
	c.writes.set(key, pendingOf(outcomes, now))
}

// waits reports whether the read model lacks a write of a key.
func (c *Controller) waits(ctx context.Context, key eval.Key, snapshot *world.Snapshot, now time.Time) bool {
	p, ok := c.writes.get(key)
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
	c.writes.set(key, pending{versions: versions, since: now})
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
func (c *Controller) wroteBefore(id world.ID, version world.Version) []eval.Key {
	return c.askAgain(c.writes.before(id, version))
}

// askAgain lets keys make their calls again: their writes are not all there is.
func (c *Controller) askAgain(keys []eval.Key) []eval.Key {
	c.echoes.drop(keys...)
	return keys
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
		for _, key := range c.askAgain(c.writes.miss(source, table, version)) {
			out = append(out, Wake{Controller: c, Key: key})
		}
	}
	return out
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
		if later(w.version, o.Version().ResourceVersion) {
			return false
		}
	}
	return there
}

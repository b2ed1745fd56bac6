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

// waits reports whether the read model lacks a write of the key.
func (r *reconciliation) waits(ctx context.Context, snapshot *world.Snapshot) bool {
	p, ok := r.c.known.writes.get(r.key)
	if !ok {
		return false
	}
	late, read := r.now.Sub(p.since) > patience, r.c.reads.in(snapshot)
	for i := range p.versions {
		w := &p.versions[i]
		switch {
		case read.shows(w):
		case !late && !w.missed:
			return true
		case read.lacks(w) && exists(ctx, r.c.group.writer, w.id):
			r.c.known.writes.set(r.key, p.anew(r.now))
			return true
		}
	}
	return false
}

// anew returns the writes as they are when the patience with them begins again.
func (p *pending) anew(now time.Time) pending {
	versions := slices.Clone(p.versions)
	for i := range versions {
		versions[i].missed = false
	}
	return pending{versions: versions, since: now}
}

// exists asks the server whether it has an object.
func exists(ctx context.Context, server apply.Writer, id world.ID) bool {
	_, uid, err := server.Live(ctx, id)
	return err == nil && uid != ""
}

// reading is what a policy reads in a snapshot.
type reading struct {
	needs []readmodel.Requirement
	seen  *world.Snapshot
}

// version returns the state of an object; zero is that it is not there.
func (r reading) version(id world.ID) (world.Version, string) {
	for _, need := range r.needs {
		if need.Source.GVK != id.GVK() {
			continue
		}
		if o := r.seen.Table(need.Source).Get(id.Namespace(), id.Name()); o != nil {
			return o.Version(), o.UID
		}
	}
	return world.Version{}, ""
}

// lacks reports whether an object was made that the policy ought to see, but does not.
func (r reading) lacks(w *written) bool {
	return w.created && slices.ContainsFunc(r.needs, func(need readmodel.Requirement) bool {
		return need.Source.Selector == "" && need.Source.May(w.id) && r.seen.Table(need.Source).Get(w.id.Namespace(), w.id.Name()) == nil
	})
}

// shows reports whether everything that the policy reads shows an object at a
// version or later. An object that is not there needs no waiting for, unless
// it was just made.
func (r reading) shows(w *written) bool {
	there := !w.created
	for _, need := range r.needs {
		if need.Source.GVK != w.id.GVK() {
			continue
		}
		o := r.seen.Table(need.Source).Get(w.id.Namespace(), w.id.Name())
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

// undone returns the keys that have written an object which shows a later state now,
// and yet is what it was before: others have undone the write, and both came as one,
// in a new list. No change tells these keys.
func (cs *controllers) undone(o *world.Object) (out []Wake) {
	for _, c := range cs.all() {
		out = append(out, askAgain(c, c.known.writes.before(o.ID(), o.Version()))...)
	}
	return out
}

// askAgain wakes keys of a controller and lets them make their calls again: their writes are not all
// there is.
func askAgain(c *Controller, keys []eval.Key) (out []Wake) {
	c.known.echoes.drop(keys...)
	for _, key := range keys {
		out = append(out, Wake{Controller: c, Key: key})
	}
	return out
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
	for _, c := range g.controllers.all() {
		out = append(out, askAgain(c, c.known.writes.miss(source, table, version))...)
	}
	return out
}

package reconcile

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/watch"
	"github.com/edict-dev/edict/engine/world"
)

// pending are writes of a key that the read model does not show yet. Deciding
// before it does would be deciding the same again: asking builtins with side
// effects once more, writing what the server refuses. It is not changed once others can
// see it.
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

// pendingOf returns what writes have led to, each object once where its writes follow
// each other.
func pendingOf(outcomes []apply.Outcome, now time.Time) pending {
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
	return p
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

// without returns the writes as they are known once the table of a source shows all
// changes up to a version, and whether objects were missed because of that.
func (p *pending) without(source world.Source, table *world.Table, version string) (next pending, missed bool) {
	next = *p
	for i := range p.versions {
		if w := &p.versions[i]; w.missed || !w.lost(source, table, version) {
			continue
		}
		if !missed {
			next.versions, missed = slices.Clone(p.versions), true
		}
		next.versions[i].missed = true
	}
	return next, missed
}

// lost reports whether an object that was made is not in the table of its source at
// a version that is not older.
func (w *written) lost(source world.Source, table *world.Table, version string) bool {
	if !w.created || !source.May(w.id) || table.Get(w.id.Namespace(), w.id.Name()) != nil {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, w.version)
	return err == nil && order >= 0
}

// later reports whether a version comes after another. Versions that cannot be compared
// do not.
func later(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order > 0
}

// pendingWrites are those of all keys of a controller. They are safe for concurrent use.
type pendingWrites struct {
	mu sync.Mutex
	of map[eval.Key]pending
}

func newPendingWrites() *pendingWrites { return &pendingWrites{of: map[eval.Key]pending{}} }

func (w *pendingWrites) get(key eval.Key) (p pending, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok = w.of[key]
	return p, ok
}

// set notes what a key waits for; it may be nothing.
func (w *pendingWrites) set(key eval.Key, p pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p.versions) > 0 {
		w.of[key] = p
	} else {
		delete(w.of, key)
	}
}

// before returns the keys that wait for a write of an object which led to an earlier
// version than the one it has, in order.
func (w *pendingWrites) before(id world.ID, version world.Version) (keys []eval.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, p := range w.of {
		if last := p.last(id); last != nil && later(version.ResourceVersion, last.version) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, watch.CompareKeys)
	return keys
}

// miss notes that the table of a source shows all changes up to a version. It returns the
// keys that have made an object which is not in it, each once, in order.
func (w *pendingWrites) miss(source world.Source, table *world.Table, version string) (keys []eval.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, p := range w.of {
		if next, missed := p.without(source, table, version); missed {
			w.of[key] = next
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, watch.CompareKeys)
	return keys
}

// drop forgets what some keys wait for.
func (w *pendingWrites) drop(given func(eval.Key) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.of, func(key eval.Key, _ pending) bool { return given(key) })
}

// copy takes over what the keys of another revision wait for. Who calls copy or move holds
// the locks of both revisions, so that no other does so the other way round.
func (w *pendingWrites) copy(old *pendingWrites) {
	old.mu.Lock()
	defer old.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.Copy(w.of, old.of)
}

// move takes over what a key of another revision waits for, if it waits.
func (w *pendingWrites) move(old *pendingWrites, key eval.Key) {
	old.mu.Lock()
	defer old.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := old.of[key]; ok {
		delete(old.of, key)
		w.of[key] = p
	}
}

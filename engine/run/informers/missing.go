package informers

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/edict-dev/edict/engine/world"
)

const (
	// minLoss is how many objects may be missing in a new list without a second
	// look, unless they are all there were; lossShare is the same in per cent.
	minLoss   = 5
	lossShare = 20
	// lossQuiet is after how long without another one all that are missing in a
	// list are known.
	lossQuiet = 250 * time.Millisecond
)

// name2 is the namespace and the name of an object.
type name2 = [2]string

// suspicious reports whether so many objects are missing in a new list that it
// may be wrong.
func suspicious(lost, of int) bool {
	return lost > 0 && (lost >= of || lost > minLoss && lost*100 > lossShare*of)
}

// missing decides about objects that are missing in a new list, and whose deletion was
// not seen.
type missing struct {
	options *Options
	stored  stored
	// restart reads a source again.
	restart    func(*informer)
	background func(func())
}

// add stores that an object is missing in a new list.
func (m *missing) add(ctx context.Context, from *informer, o *world.Object) {
	from.mu.Lock()
	from.missing[name2{o.Namespace, o.Name}] = o.UID
	start := !from.resolving
	from.resolving = true
	from.mu.Unlock()
	if start {
		m.background(func() { m.resolve(ctx, from) })
	}
}

// resolve decides about the objects that are missing in a new list: they are gone, or
// the list is wrong. Until that is known they stay in the read model.
func (m *missing) resolve(ctx context.Context, from *informer) {
	for from.awaitQuiet(ctx) {
		lost, of := from.missingUIDs(), m.options.Store.Snapshot().Table(from.source).Len()
		if !suspicious(len(lost), of) {
			m.remove(ctx, from, lost)
			continue
		}
		from.setStale(fmt.Sprintf("%d of %d objects of %s are missing in a new list, and a second one has not confirmed it yet", len(lost), of, from.source.GVK))
		m.options.Log.Warn("objects are missing in a new list, so a second one is read", "kind", from.source.Kind, "missing", len(lost), "of", of)
		gone, ok := m.confirm(ctx, from, lost)
		from.setStale("")
		if !ok {
			return // it has ended
		}
		m.remove(ctx, from, gone)
		if len(gone) < len(lost) {
			m.options.Log.Error("a list was wrong: a second one has the objects, so all is read again", "kind", from.source.Kind, "missing", len(lost), "there", len(lost)-len(gone))
			m.restart(from)
			return
		}
	}
}

// awaitQuiet waits until no more objects are missing than before, and reports whether
// any are.
func (i *informer) awaitQuiet(ctx context.Context) bool {
	for before := -1; ; {
		i.mu.Lock()
		now := len(i.missing)
		if now == 0 {
			i.resolving = false
		}
		i.mu.Unlock()
		if now == 0 || now == before {
			return now > 0
		}
		before = now
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lossQuiet):
		}
	}
}

// missingUIDs returns the UIDs of the missing objects.
func (i *informer) missingUIDs() map[name2]string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.missing)
}

// remove removes objects from the read model, unless they have come back.
func (m *missing) remove(ctx context.Context, from *informer, gone map[name2]string) {
	from.mu.Lock()
	defer from.mu.Unlock()
	for name := range gone {
		if _, still := from.missing[name]; still && ctx.Err() == nil {
			delete(from.missing, name)
			m.options.Queues.Wake(m.options.Group.Delete(ctx, from.source, name[0], name[1]))
		}
	}
}

// confirm reads a second list, from what the API server has stored and not from
// its cache, until that works, and returns what is missing in it, too. It returns
// false when the informer has ended.
func (m *missing) confirm(ctx context.Context, from *informer, lost map[name2]string) (gone map[name2]string, ok bool) {
	for {
		there, err := m.stored.list(ctx, from.source, 0)
		if err == nil {
			gone = map[name2]string{}
			for name, uid := range lost {
				if there[name] != uid {
					gone[name] = uid
				}
			}
			return gone, true
		}
		if ctx.Err() == nil {
			m.options.Log.Warn("a second list cannot be read, and will be tried again", "kind", from.source.Kind, "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(m.options.Poll):
		}
	}
}

// emptyTimeout is how long the objects of a second list may take to arrive by the
// watch.
const emptyTimeout = 2 * time.Second

// confirmEmpty reports whether a source whose first list was empty has no objects: a
// first list cannot be compared with an earlier one. It returns true if a second list
// cannot be read.
func (m *missing) confirmEmpty(ctx context.Context, source world.Source) bool {
	there, err := m.stored.list(ctx, source, 1)
	if err != nil || len(there) == 0 {
		return true
	}
	select {
	case <-ctx.Done():
	case <-time.After(emptyTimeout):
	}
	return m.options.Store.Snapshot().Table(source).Len() > 0
}

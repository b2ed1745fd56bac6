package informers

import (
	"context"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// listPage is how many objects one request asks for.
	listPage = 500
)

// name2 is the namespace and the name of an object.
type name2 = [2]string

// suspicious reports whether so many objects are missing in a new list that it
// may be wrong.
func suspicious(lost, of int) bool {
	return lost > 0 && (lost >= of || lost > minLoss && lost*100 > lossShare*of)
}

// lose takes that an object is missing in a new list: nobody has said that it was
// deleted.
func (s *Set) objectMissing(ctx context.Context, from *informer, o *world.Object) {
	from.mu.Lock()
	from.missing[name2{o.Namespace, o.Name}] = o.UID
	start := !from.resolving
	from.resolving = true
	from.mu.Unlock()
	if start {
		s.wg.Go(func() { s.resolveMissing(ctx, from) })
	}
}

// judge decides about the objects that are missing in a new list: they are gone,
// or the list is wrong. Until that is known they stay in the read model.
func (s *Set) resolveMissing(ctx context.Context, from *informer) {
	for from.awaitQuiet(ctx) {
		lost, of := from.missingUIDs(), s.options.Store.Snapshot().Table(from.source).Len()
		if !suspicious(len(lost), of) {
			s.remove(ctx, from, lost)
			continue
		}
		from.setStale(fmt.Sprintf("%d of %d objects of %s are missing in a new list, and a second one has not confirmed it yet", len(lost), of, from.source.GVK))
		s.options.Log.Warn("objects are missing in a new list, so a second one is read", "kind", from.source.Kind, "missing", len(lost), "of", of)
		gone, ok := s.confirm(ctx, from, lost)
		from.setStale("")
		if !ok {
			return // it has ended
		}
		s.remove(ctx, from, gone)
		if len(gone) < len(lost) {
			s.options.Log.Error("a list was wrong: a second one has the objects, so all is read again", "kind", from.source.Kind, "missing", len(lost), "there", len(lost)-len(gone))
			s.restart(from)
			return
		}
	}
}

// gather waits until no more objects are missing than before, and reports whether
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

// missing returns what is missing, with the UIDs.
func (i *informer) missingUIDs() map[name2]string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.missing)
}

// drop takes objects out of the read model, unless they have come back.
func (s *Set) remove(ctx context.Context, from *informer, gone map[name2]string) {
	from.mu.Lock()
	defer from.mu.Unlock()
	for name := range gone {
		if _, still := from.missing[name]; still && ctx.Err() == nil {
			delete(from.missing, name)
			s.Wake(s.options.Group.Delete(ctx, from.source, name[0], name[1]))
		}
	}
}

// confirm reads a second list, from what the API server has stored and not from
// its cache, until that works, and returns what is missing in it, too. It returns
// false when the feed has ended.
func (s *Set) confirm(ctx context.Context, from *informer, lost map[name2]string) (gone map[name2]string, ok bool) {
	for {
		there, err := s.list(ctx, from.source, 0)
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
			s.options.Log.Warn("a second list cannot be read, and will be tried again", "kind", from.source.Kind, "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(s.options.Poll):
		}
	}
}

// list reads which objects of a source are stored, at most so many; 0 is all.
func (s *Set) list(ctx context.Context, source world.Source, most int64) (map[name2]string, error) {
	resource, err := s.options.Writer.Resource(world.ID{GVK: source.GVK})
	if err != nil {
		return nil, err
	}
	options := metav1.ListOptions{LabelSelector: source.Selector, Limit: listPage}
	if source.Name != "" {
		options.FieldSelector = metav1.ObjectNameField + "=" + source.Name
	}
	if most > 0 {
		options.Limit = most
	}
	out := map[name2]string{}
	for {
		page, err := s.options.Writer.Metadata().Resource(resource).Namespace(source.Namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			o := &page.Items[i]
			out[name2{o.Namespace, o.Name}] = string(o.UID)
		}
		if options.Continue = page.Continue; options.Continue == "" || most > 0 {
			return out, nil
		}
	}
}

// emptyPatience is how long objects that a second list has may take to come by
// the watch.
const emptyPatience = 2 * time.Second

// empty reports whether a source whose first list was empty is so indeed: what is
// read for the first time cannot be compared with what was known before. What
// cannot be found out is taken for true.
func (s *Set) confirmEmpty(ctx context.Context, source world.Source) bool {
	there, err := s.list(ctx, source, 1)
	if err != nil || len(there) == 0 {
		return true
	}
	select {
	case <-ctx.Done():
	case <-time.After(emptyPatience):
	}
	return s.options.Store.Snapshot().Table(source).Len() > 0
}

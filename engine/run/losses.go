package run

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
func (f *feeds) lose(ctx context.Context, from *feed, o *world.Object) {
	from.mu.Lock()
	from.lost[name2{o.Namespace, o.Name}] = o.UID
	start := !from.judging
	from.judging = true
	from.mu.Unlock()
	if start {
		f.wg.Go(func() { f.judge(ctx, from) })
	}
}

// judge decides about the objects that are missing in a new list: they are gone,
// or the list is wrong. Until that is known they stay in the read model.
func (f *feeds) judge(ctx context.Context, from *feed) {
	for from.gather(ctx) {
		lost, of := from.missing(), f.store.Snapshot().Table(from.source).Len()
		if !suspicious(len(lost), of) {
			f.drop(ctx, from, lost)
			continue
		}
		from.suspect(fmt.Sprintf("%d of %d objects of %s are missing in a new list, and a second one has not confirmed it yet", len(lost), of, from.source.GVK))
		f.Log.Warn("objects are missing in a new list, so a second one is read", "kind", from.source.Kind, "missing", len(lost), "of", of)
		gone, ok := f.confirm(ctx, from, lost)
		from.suspect("")
		if !ok {
			return // it has ended
		}
		f.drop(ctx, from, gone)
		if len(gone) < len(lost) {
			f.Log.Error("a list was wrong: a second one has the objects, so all is read again", "kind", from.source.Kind, "missing", len(lost), "there", len(lost)-len(gone))
			f.restart(from)
			return
		}
	}
}

// gather waits until no more objects are missing than before, and reports whether
// any are.
func (n *feed) gather(ctx context.Context) bool {
	for before := -1; ; {
		n.mu.Lock()
		now := len(n.lost)
		if now == 0 {
			n.judging = false
		}
		n.mu.Unlock()
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
func (n *feed) missing() map[name2]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.lost)
}

// drop takes objects out of the read model, unless they have come back.
func (f *feeds) drop(ctx context.Context, from *feed, gone map[name2]string) {
	from.mu.Lock()
	defer from.mu.Unlock()
	for name := range gone {
		if _, still := from.lost[name]; still && ctx.Err() == nil {
			delete(from.lost, name)
			f.wake(f.group.Delete(ctx, from.source, name[0], name[1]))
		}
	}
}

// confirm reads a second list, from what the API server has stored and not from
// its cache, until that works, and returns what is missing in it, too. It returns
// false when the feed has ended.
func (f *feeds) confirm(ctx context.Context, from *feed, lost map[name2]string) (gone map[name2]string, ok bool) {
	for {
		there, err := f.list(ctx, from.source, 0)
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
			f.Log.Warn("a second list cannot be read, and will be tried again", "kind", from.source.Kind, "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(f.PollInterval):
		}
	}
}

// list reads which objects of a source are stored, at most so many; 0 is all.
func (f *feeds) list(ctx context.Context, source world.Source, most int64) (map[name2]string, error) {
	resource, err := f.writer.Resource(world.ID{GVK: source.GVK})
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
		page, err := f.writer.Metadata().Resource(resource).Namespace(source.Namespace).List(ctx, options)
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
func (f *feeds) empty(ctx context.Context, source world.Source) bool {
	there, err := f.list(ctx, source, 1)
	if err != nil || len(there) == 0 {
		return true
	}
	select {
	case <-ctx.Done():
	case <-time.After(emptyPatience):
	}
	return f.store.Snapshot().Table(source).Len() > 0
}

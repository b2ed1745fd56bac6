package schedules

import (
	"hash/fnv"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/world"
)

// feed brings the changes of one source to a process, as an informer does.
type feed struct {
	*process
	source   world.Source
	selector labels.Selector
	// late says that events wait until they are delivered.
	late   bool
	events []event
	// doubt says that objects were missing in a list which is not confirmed.
	doubt bool
}

// event is a change of an object; old is nil for a new one, now for one that is
// gone.
type event struct {
	id       world.ID
	old, now object
}

func (f *feed) happened(e event) {
	if !f.source.May(e.id) {
		return
	}
	if f.late {
		f.events = append(f.events, e)
		return
	}
	f.tell(e)
}

func (f *feed) holds(o object) bool {
	return f.source.May(idOf(o)) && f.selector.Matches(apiserver.Labels(o))
}

func (f *feed) tell(e event) {
	switch {
	case e.now != nil && f.holds(e.now):
		f.wake(f.group.Put(f.ctx, f.source, e.now))
	case e.old != nil:
		f.wake(f.group.Delete(f.ctx, f.source, e.id.Namespace(), e.id.Name()))
	}
}

// deliver brings the first events that wait; all of them, and those to come, when
// it is more than there are.
func (f *feed) deliver(n int) {
	for ; n > 0 && len(f.events) > 0; n-- {
		e := f.events[0]
		f.events = f.events[1:]
		if f.plant == forgetsEvents && fnvOf(e.id.Name())%4 == 0 {
			continue
		}
		f.met[names[lag]]++
		f.tell(e)
	}
	f.late = len(f.events) > 0 || n == 0
	if !f.late {
		f.reached()
	}
}

// reached takes that all changes up to now have come, as the real controller finds
// out once a second.
func (f *feed) reached() {
	if f.plant != forgetsTheUnseen {
		f.wake(f.group.Reached(f.source, f.server.Version()))
	}
}

// relist goes on with a new list: what happened in between is one change.
func (f *feed) relist() {
	f.events, f.late, f.doubt = nil, false, false
	for _, o := range f.store.Snapshot().Table(f.source).All() {
		now := f.server.Get(o.ID())
		if (now == nil || !f.holds(now)) && f.plant != forgetsDeletions {
			f.wake(f.group.Delete(f.ctx, f.source, o.Namespace, o.Name))
		}
	}
	for _, o := range f.server.List() {
		if f.holds(o) {
			f.wake(f.group.Put(f.ctx, f.source, o))
		}
	}
	f.reached()
}

// badList goes on with a list in which objects are missing. They stay in the read
// model, together with those that are gone indeed, until a second list tells which
// are which.
func (f *feed) badList(m int) {
	f.events, f.late, f.doubt = nil, false, true
	for _, o := range f.server.List() {
		if f.holds(o) && fnvOf(idOf(o).Name())%3 != uint32(m%3) {
			f.wake(f.group.Put(f.ctx, f.source, o))
		}
	}
}

func fnvOf(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

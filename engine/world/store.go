package world

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Source is a set of objects that is watched as one: a kind, perhaps only in
// one namespace, of one name or with certain labels.
type Source struct {
	schema.GVK
	// Namespace narrows to one namespace; "" means all.
	Namespace string
	// Name narrows to the objects of one name; "" means all.
	Name string
	// Selector narrows by label, in the text form; "" means all.
	Selector string
	// Values keeps the values of Secrets, which are digests otherwise.
	Values bool
}

// May reports whether the source may hold an object, as far as its kind,
// namespace and name tell; its labels are left to the selector.
func (s Source) May(id ID) bool {
	return s.GVK == id.GVK() && (s.Namespace == "" || s.Namespace == id.Namespace()) && (s.Name == "" || s.Name == id.Name())
}

// Snapshot is a frozen view of all tables.
type Snapshot struct {
	// sources are those of the tables, in their order, and places says where each stands.
	// Snapshots of the same sources share them, so that a change copies nothing but
	// pointers.
	sources []Source
	places  map[Source]int
	tables  []*Table
}

// fewSources is how many sources are gone through rather than looked up.
const fewSources = 8

// place returns where the table of a source stands; -1 for none.
func (s *Snapshot) place(source Source) int {
	if len(s.sources) <= fewSources {
		return slices.Index(s.sources, source)
	}
	if at, ok := s.places[source]; ok {
		return at
	}
	return -1
}

// Table returns a source's table; nil, which reads as empty, when there is none.
func (s *Snapshot) Table(source Source) *Table {
	if s == nil {
		return nil
	}
	if at := s.place(source); at >= 0 {
		return s.tables[at]
	}
	return nil
}

// with returns a snapshot with another table of a source.
func (s *Snapshot) with(source Source, t *Table) *Snapshot {
	if at := s.place(source); at >= 0 {
		out := &Snapshot{sources: s.sources, places: s.places, tables: slices.Clone(s.tables)}
		out.tables[at] = t
		return out
	}
	out := &Snapshot{sources: append(slices.Clip(s.sources), source), places: maps.Clone(s.places), tables: append(slices.Clip(s.tables), t)}
	if out.places == nil {
		out.places = map[Source]int{}
	}
	out.places[source] = len(s.tables)
	return out
}

// without returns a snapshot without a source.
func (s *Snapshot) without(source Source) *Snapshot {
	out := &Snapshot{}
	for at, other := range s.sources {
		if other != source {
			out = out.with(other, s.tables[at])
		}
	}
	return out
}

// Store holds the tables. It is safe for concurrent use; Snapshot never waits.
type Store struct {
	mu      sync.Mutex
	sources map[Source]*sourceState
	current atomic.Pointer[Snapshot]
}

// sourceState is what a source needs besides its objects.
type sourceState struct {
	mask    *value.Mask
	indexes map[string]IndexFunc
	log     *log
}

// NewStore makes an empty store.
func NewStore() *Store {
	s := &Store{sources: map[Source]*sourceState{}}
	s.current.Store(&Snapshot{})
	return s
}

// Snapshot returns the current state.
func (s *Store) Snapshot() *Snapshot { return s.current.Load() }

// Open makes a source known, with the parts of its objects to keep and the
// indexes it needs. Opening it again adds to both.
func (s *Store) Open(source Source, mask *value.Mask, indexes map[string]IndexFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.sources[source]
	if !ok {
		state = &sourceState{indexes: map[string]IndexFunc{}, log: &log{}}
		s.sources[source] = state
		s.publish(source, newTable(state.log))
	}
	state.mask = value.Merge(state.mask, mask)
	for name, f := range indexes {
		if _, have := state.indexes[name]; have {
			continue
		}
		state.indexes[name] = f
		s.publish(source, s.tableOf(source).withIndex(name, f))
	}
}

// Close forgets a source.
func (s *Store) Close(source Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sources, source)
	s.current.Store(s.current.Load().without(source))
}

// Narrow drops the indexes of a source that are no longer needed, and says
// which parts of its objects are. What is kept already is not cut down.
func (s *Store) Narrow(source Source, mask *value.Mask, needed func(index string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.sources[source]
	if !ok {
		return
	}
	state.mask = mask
	t := *s.tableOf(source)
	t.indexes = maps.Clone(t.indexes)
	for name := range state.indexes {
		if !needed(name) {
			delete(state.indexes, name)
			delete(t.indexes, name)
		}
	}
	s.publish(source, &t)
}

// Mask returns the parts of a source's objects that are kept.
func (s *Store) Mask(source Source) *value.Mask {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state, ok := s.sources[source]; ok {
		return state.mask
	}
	return nil
}

func (s *Store) tableOf(source Source) *Table {
	if t := s.current.Load().Table(source); t != nil {
		return t
	}
	return newTable(&log{})
}

func (s *Store) publish(source Source, t *Table) {
	s.current.Store(s.current.Load().with(source, t))
}

// Put adds or replaces an object. It gives the state before and after; when
// nothing that is kept has changed both are the same object, only its version
// has moved on.
func (s *Store) Put(source Source, o *Object) (old, now *Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.sources[source]; !ok {
		return nil, nil
	}
	t := s.tableOf(source)
	old, _ = t.objects.Get(o.name())
	if old != nil && old.UID == o.UID {
		o.Value = value.Share(old.Value, o.Value).(*value.Map)
		if o.Value == old.Value {
			old.version.Store(o.version.Load())
			old.managers.Store(o.Managers())
			return old, old
		}
	}
	s.publish(source, t.with(old, o))
	return old, o
}

// Delete removes an object and returns its last state, or nil.
func (s *Store) Delete(source Source, namespace, name string) *Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.sources[source]; !ok {
		return nil
	}
	t := s.tableOf(source)
	old := t.Get(namespace, name)
	if old != nil {
		s.publish(source, t.without(old))
	}
	return old
}

// with returns the next version of the table, with an object added or replaced.
func (t *Table) with(old, now *Object) *Table {
	next := &Table{
		objects: t.objects.Set(now.name(), now), all: t.all.with(now),
		indexes: make(map[string]*index, len(t.indexes)), seq: t.seq + 1, log: t.log,
	}
	for name, x := range t.indexes {
		next.indexes[name] = x.next(old, now, next.all.all)
	}
	t.log.record(next.seq, Change{now.Namespace, now.Name})
	return next
}

func (t *Table) without(old *Object) *Table {
	next := &Table{
		objects: t.objects.Delete(old.name()), all: t.all.without(old),
		indexes: make(map[string]*index, len(t.indexes)), seq: t.seq + 1, log: t.log,
	}
	for name, x := range t.indexes {
		next.indexes[name] = x.next(old, nil, next.all.all)
	}
	t.log.record(next.seq, Change{old.Namespace, old.Name})
	return next
}

func (t *Table) withIndex(name string, f IndexFunc) *Table {
	next := *t
	next.indexes = maps.Clone(t.indexes)
	next.indexes[name] = newIndex(f)
	return &next
}

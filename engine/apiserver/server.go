package apiserver

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Object is a manifest as plain JSON values. Objects that a server holds or
// returns must not be changed.
type Object = map[string]any

// Server is an API server in memory, used by one goroutine.
type Server struct {
	// Changed is called with every change: old is nil for a new object, now for
	// one that is gone.
	Changed func(id world.ID, old, now Object)

	schemas  *schema.Set
	now      clock
	storage  *storage
	managers *managers
}

// clock is the time of a server.
type clock func() time.Time

func (c clock) timestamp() string { return c().UTC().Format(time.RFC3339) }

// New makes an empty server. Kinds that schemas does not know have no defaults,
// and their lists are atomic.
func New(schemas *schema.Set, now func() time.Time) *Server {
	s := &Server{Changed: func(world.ID, Object, Object) {}, schemas: schemas, now: now, managers: &managers{now: now, known: map[fieldsKey]*managedfields.FieldManager{}}}
	s.storage = &storage{objects: map[world.ID]Object{}, owners: map[string]world.ID{}, last: map[world.ID]string{}, changed: s.tell}
	return s
}

// tell tells of a change: whom, may change at any time.
func (s *Server) tell(id world.ID, old, now Object) { s.Changed(id, old, now) }

// Get returns an object, or nil.
func (s *Server) Get(id world.ID) Object { return s.storage.objects[id] }

// Version returns the resourceVersion of the last change of any object.
func (s *Server) Version() string { return s.storage.version() }

// List returns every object, sorted by kind, namespace and name.
func (s *Server) List() []Object { return s.storage.list() }

// Load takes an object that is there before anything is written: what it says
// of its identity and age is kept, it is defaulted but not pruned, and nobody
// manages its fields.
func (s *Server) Load(given Object) {
	next := copied(given)
	kind := s.kindOf(next)
	kind.normalize(next, given, false)
	s.storage.add(kind, next)
}

// Put creates an object, or replaces all of it: it is defaulted but not pruned,
// and the status is replaced, too, but kept when the given object has none.
func (s *Server) Put(given Object, manager string) {
	next := copied(given)
	kind, id := s.kindOf(next), ID(next)
	kind.normalize(next, given, false)
	old, exists := s.storage.objects[id]
	if !exists {
		setDefault(metadata(next), "creationTimestamp", s.now.timestamp())
		next = s.managers.tracked(kind, fieldsKey{GVK: id.GVK()}, nil, next, manager)
		s.storage.add(kind, next)
		garbage{s}.stray(next)
		return
	}
	if _, has := next["status"]; !has && old["status"] != nil {
		next["status"] = old["status"]
	}
	for _, field := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion", "managedFields"} {
		if v, ok := metadata(old)[field]; ok {
			metadata(next)[field] = v
		}
	}
	s.store(kind, old, s.managers.tracked(kind, fieldsKey{GVK: id.GVK(), whole: true}, old, next, manager))
}

// Refuses returns why an update of an object by a client would be refused for what it
// says, nil if it would not. Put asks nobody, because a world may begin with what a client
// could not make of it.
func (s *Server) Refuses(given Object) error {
	next := copied(given)
	kind := s.kindOf(next)
	old, exists := s.storage.objects[ID(next)]
	if !exists {
		return nil
	}
	kind.normalize(next, old, false)
	if err := kind.immutable(old, next); err != nil {
		return err
	}
	return s.valid(kind, old, next, "")
}

// store replaces an object's state, unless nothing changed, and returns what it
// is then. An object that was only waiting for its finalizers goes.
func (s *Server) store(kind kind, old, next Object) Object {
	if sameObject(old, next) {
		return old
	}
	if kind.moves(old, next) {
		metadata(next)["generation"] = integer(metadata(old), "generation") + 1
	}
	if deleting(next) && len(finalizers(next)) == 0 {
		garbage{s}.drop(old)
		return next
	}
	s.storage.set(old, next)
	garbage{s}.stray(next)
	return next
}

func copied(o Object) Object {
	out := runtime.DeepCopyJSON(o)
	if metadata(out) == nil {
		out["metadata"] = Object{}
	}
	return out
}

// Copy returns a server that has the same objects now, and its own from now on. It
// tells nobody of changes. Both are used by the same goroutine.
func (s *Server) Copy(now func() time.Time) *Server {
	out := New(s.schemas, now)
	out.storage, out.managers.known = s.storage.copied(out.tell), s.managers.known
	return out
}

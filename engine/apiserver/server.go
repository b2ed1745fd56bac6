package apiserver

import (
	"fmt"
	"slices"
	"strconv"
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

	schemas *schema.Set
	now     func() time.Time
	objects map[world.ID]Object
	// owners are the objects by uid.
	owners map[string]world.ID
	serial int
	fields map[fieldsKey]*managedfields.FieldManager
}

// New makes an empty server. Kinds that schemas does not know have no defaults,
// and their lists are atomic.
func New(schemas *schema.Set, now func() time.Time) *Server {
	return &Server{
		Changed: func(world.ID, Object, Object) {}, schemas: schemas, now: now,
		objects: map[world.ID]Object{}, owners: map[string]world.ID{}, fields: map[fieldsKey]*managedfields.FieldManager{},
	}
}

// Get returns an object, or nil.
func (s *Server) Get(id world.ID) Object { return s.objects[id] }

// Version returns the resourceVersion of the last change of any object.
func (s *Server) Version() string { return strconv.Itoa(s.serial) }

// List returns every object, sorted by kind, namespace and name.
func (s *Server) List() []Object {
	ids := make([]world.ID, 0, len(s.objects))
	for id := range s.objects {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, world.CompareIDs)
	out := make([]Object, len(ids))
	for i, id := range ids {
		out[i] = s.objects[id]
	}
	return out
}

// Load takes an object that is there before anything is written: what it says
// of its identity and age is kept, it is defaulted but not pruned, and nobody
// manages its fields.
func (s *Server) Load(given Object) {
	next := copied(given)
	s.kindOf(next).normalize(next, given)
	s.add(next)
}

// Put creates an object, or replaces all of it: it is defaulted but not pruned,
// and the status is replaced, too, but kept when the given object has none.
func (s *Server) Put(given Object, manager string) {
	next := copied(given)
	kind, id := s.kindOf(next), ID(next)
	kind.normalize(next, given)
	old, exists := s.objects[id]
	if !exists {
		setDefault(metadata(next), "creationTimestamp", s.timestamp())
		s.add(s.tracked(kind, fieldsKey{GVK: id.GVK}, nil, next, manager))
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
	s.store(kind, old, s.tracked(kind, fieldsKey{GVK: id.GVK, whole: true}, old, next, manager))
}

// add takes a new object; what it says of its identity is kept.
func (s *Server) add(next Object) {
	id, m := ID(next), metadata(next)
	s.serial++
	setDefault(m, "uid", fmt.Sprintf("uid-%d", s.serial))
	if s.kindOf(next).generations() {
		setDefault(m, "generation", int64(1))
	}
	m["resourceVersion"] = strconv.Itoa(s.serial)
	s.objects[id] = next
	s.owners[text(m, "uid")] = id
	s.Changed(id, nil, next)
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
		s.drop(old)
		return next
	}
	s.set(old, next)
	return next
}

func (s *Server) set(old, next Object) {
	s.serial++
	metadata(next)["resourceVersion"] = strconv.Itoa(s.serial)
	id := ID(next)
	s.objects[id] = next
	s.Changed(id, old, next)
}

func copied(o Object) Object {
	out := runtime.DeepCopyJSON(o)
	if metadata(out) == nil {
		out["metadata"] = Object{}
	}
	return out
}

func (s *Server) timestamp() string { return s.now().UTC().Format(time.RFC3339) }

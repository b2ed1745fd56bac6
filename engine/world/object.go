package world

import (
	"cmp"
	"sync/atomic"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Object is one object as policies see it. Its value never changes; a change
// of the object makes a new Object.
type Object struct {
	schema.GVK
	Namespace string
	Name      string
	UID       string
	// Value holds the fields that some policy reads.
	Value *value.Map

	// key is the object's name within its table; the tables share it.
	key string
	// version is what writes are based on. It moves in place when an update
	// touched no field that anybody reads, so that such an update costs
	// nothing further.
	version atomic.Pointer[Version]
	// managers moves in place like the version: who holds a field whose value
	// has not changed wakes nobody.
	managers atomic.Pointer[Managers]
}

// Version tells which state of an object was read.
type Version struct {
	ResourceVersion string
	Generation      int64
}

// NewObject makes an object in a certain version.
func NewObject(id ID, uid string, v *value.Map, version Version) *Object {
	o := withVersion(version)
	o.GVK, o.Namespace, o.Name, o.UID = id.gvk, id.namespace, id.name, uid
	o.Value, o.key = v, key(id.namespace, id.name)
	return o
}

// withVersion makes an object in one piece of memory with its first version.
func withVersion(version Version) *Object {
	both := &struct {
		Object
		first Version
	}{first: version}
	both.version.Store(&both.first)
	return &both.Object
}

// Next makes the same object in another version, which shares its name.
func (o *Object) Next(v *value.Map, version Version) *Object {
	next := withVersion(version)
	next.GVK, next.Namespace, next.Name, next.UID = o.GVK, o.Namespace, o.Name, o.UID
	next.Value, next.key = v, o.key
	return next
}

// SetManagers notes who has set the object's fields, before it is stored.
func (o *Object) SetManagers(m *Managers) { o.managers.Store(m) }

// Managers returns those who have set the object's fields; nil when nobody asked
// for them, or nobody is noted.
func (o *Object) Managers() *Managers { return o.managers.Load() }

// Version returns the newest version known whose value is this object's.
func (o *Object) Version() Version { return *o.version.Load() }

// key is an object's name within its table.
func key(namespace, name string) string { return namespace + "\x00" + name }

// Compare orders objects by namespace and name.
func Compare(a, b *Object) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

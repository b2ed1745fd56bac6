package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// overlay holds what the effects so far have made of objects: rules see what
// the rules above left.
type overlay struct {
	objects map[world.ID]*value.Map
	// created are objects that do not exist yet.
	created map[world.ID]*world.Object
	// undo are the objects that were overlaid since the last save, as they were.
	undo []overlaid
}

// overlaid is an object as the overlay had it before; nil where it had none.
type overlaid struct {
	id      world.ID
	object  *value.Map
	created *world.Object
}

// of returns an object's value under the overlay.
func (o *overlay) of(object *world.Object) *value.Map {
	if o.objects != nil {
		if v, ok := o.objects[object.ID()]; ok {
			return v
		}
	}
	return object.Value
}

// used reports whether anything was overlaid, even if it was taken back.
func (o *overlay) used() bool { return o.objects != nil || o.created != nil }

func (o *overlay) set(id world.ID, v *value.Map) {
	if o.objects == nil {
		o.objects = map[world.ID]*value.Map{}
	}
	o.undo = append(o.undo, overlaid{id, o.objects[id], o.created[id]})
	o.objects[id] = v
}

// touches reports whether objects of a kind are overlaid.
func (o *overlay) touches(gvk schema.GVK) bool {
	for id := range o.objects {
		if id.GVK() == gvk {
			return true
		}
	}
	return false
}

// create adds an object that does not exist yet.
func (o *overlay) create(id world.ID, v *value.Map) {
	o.set(id, v)
	if o.created == nil {
		o.created = map[world.ID]*world.Object{}
	}
	o.created[id] = world.NewObject(id, "", v, world.Version{})
}

// save begins what restore takes back.
func (o *overlay) save() {
	clear(o.undo)
	o.undo = o.undo[:0]
}

// restore makes the overlay what it was when it was saved last.
func (o *overlay) restore() {
	for _, was := range slices.Backward(o.undo) {
		if was.object == nil {
			delete(o.objects, was.id)
		} else {
			o.objects[was.id] = was.object
		}
		if was.created == nil {
			delete(o.created, was.id)
		} else {
			o.created[was.id] = was.created
		}
	}
	o.save()
}

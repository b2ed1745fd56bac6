package eval

import (
	"maps"

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

func (o *overlay) set(id world.ID, v *value.Map) {
	if o.objects == nil {
		o.objects = map[world.ID]*value.Map{}
	}
	o.objects[id] = v
}

// touches reports whether objects of a kind are overlaid.
func (o *overlay) touches(gvk schema.GVK) bool {
	for id := range o.objects {
		if id.GVK == gvk {
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

// save returns the overlay as it is; what comes after does not change it.
func (o *overlay) save() overlay {
	return overlay{objects: maps.Clone(o.objects), created: maps.Clone(o.created)}
}

func (o *overlay) restore(saved overlay) { *o = saved }

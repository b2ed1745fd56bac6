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
}

// of gives an object's value under the overlay.
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

// touches says whether objects of a kind are overlaid.
func (o *overlay) touches(gvk schema.GVK) bool {
	for id := range o.objects {
		if id.GVK == gvk {
			return true
		}
	}
	return false
}

func (o *overlay) save() map[world.ID]*value.Map { return maps.Clone(o.objects) }

func (o *overlay) restore(saved map[world.ID]*value.Map) { o.objects = saved }

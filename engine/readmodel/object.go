// Package readmodel decides what the read model of package world keeps for a policy:
// which sources, which fields of their objects, and which indexes. It makes the objects
// of the read model from manifests.
package readmodel

import (
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Object returns the object of the read model for a decoded manifest, with the fields
// of a mask. Of a Secret it keeps digests of the values, unless the source has the
// values.
func Object(source world.Source, object map[string]any, t *schema.Type, mask *value.Mask) *world.Object {
	if source.GVK == schema.Secret && !source.Values {
		object = Redacted(object)
	}
	frozen, _ := value.Freeze(object, t, mask).(*value.Map)
	metadata, _ := object["metadata"].(map[string]any)
	text := func(field string) string { s, _ := metadata[field].(string); return s }
	generation := int64(0)
	switch n := metadata["generation"].(type) {
	case int64:
		generation = n
	case float64:
		generation = int64(n)
	}
	id, _ := world.Identify(source.GVK, text("namespace"), text("name")) // the API server accepts no other names
	out := world.NewObject(id, text("uid"), frozen, world.Version{ResourceVersion: text("resourceVersion"), Generation: generation})
	out.SetManagers(world.ManagersOf(object, mask))
	return out
}

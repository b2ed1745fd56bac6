package schedules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/world"
)

type object = map[string]any

func metadataOf(o object) object {
	m, _ := o["metadata"].(object)
	return m
}

func idOf(o object) world.ID { return apiserver.ID(o) }

func compareIDs(a, b world.ID) int {
	return cmp.Or(cmp.Compare(a.APIVersion(), b.APIVersion()), cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(a.Namespace(), b.Namespace()), cmp.Compare(a.Name(), b.Name()))
}

// historic are the fields that follow from the way to a state, and not from the
// state alone.
var historic = map[string]bool{
	"uid": true, "resourceVersion": true, "managedFields": true, "creationTimestamp": true, "generation": true, "observedGeneration": true,
	"lastTransitionTime": true, "eligibleNodesRevision": true, touchedBy: true,
}

// unordered are lists whose entries stand in the order in which they came.
var unordered = map[string]bool{"modules": true}

// lasting returns a value without what is historic, and without what is empty then.
func lasting(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, field := range v {
			if kept := lasting(field); !historic[name] && kept != nil {
				out[name] = kept
			}
			if list, ok := out[name].([]any); ok && unordered[name] {
				slices.SortFunc(list, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = lasting(entry)
		}
		return out
	default:
		return v
	}
}

// state returns what is left in the end, by what it is.
func (b *bench) state() map[string]any {
	out := map[string]any{}
	for _, o := range b.server.List() {
		id := idOf(o)
		if o, _ := lasting(o).(object); id.Kind() == "NodeModulesConfig" && o["spec"] == nil && o["status"] == nil {
			continue // of nothing: that it is there tells only what was once
		}
		out[id.Kind()+" "+id.Namespace()+"/"+id.Name()] = lasting(o)
	}
	return out
}

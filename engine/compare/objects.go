package compare

import (
	"maps"
	"reflect"
	"slices"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
)

// compare compares the objects at the end of two runs.
func (r *Result) compare(before, after []simulate.Object, writers map[simulate.Target][]string) {
	old, now := byID(before), byID(after)
	for _, id := range union(old, now) {
		change := Change{Target: target(id), Policies: writers[target(id)], Fields: diff(significant(old[id]), significant(now[id]))}
		switch {
		case old[id] == nil:
			change.Verb, r.Created = VerbCreate, r.Created+1
		case now[id] == nil:
			change.Verb, r.Deleted = VerbDelete, r.Deleted+1
		case len(change.Fields) == 0:
			r.UnchangedObjects++
			continue
		default:
			change.Verb, r.Changed = VerbUpdate, r.Changed+1
		}
		if change.Policies == nil { // the API server collects it
			change.Policies = []string{}
		}
		r.Changes = append(r.Changes, change)
	}
}

func byID(objects []simulate.Object) map[simulate.Identity]simulate.Object {
	out := make(map[simulate.Identity]simulate.Object, len(objects))
	for _, o := range objects {
		out[simulate.ID(o)] = o
	}
	return out
}

// union returns the names of two sets of objects, sorted, each once.
func union(a, b map[simulate.Identity]simulate.Object) []simulate.Identity {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.SortedFunc(maps.Keys(all), world.CompareIDs)
}

func target(id simulate.Identity) simulate.Target {
	return simulate.Target{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// writersOf returns which policies wrote each object.
func writersOf(lists ...[]simulate.Effect) map[simulate.Target][]string {
	out := map[simulate.Target][]string{}
	for _, list := range lists {
		for _, e := range list {
			if !slices.Contains(out[e.Target], e.Policy) {
				out[e.Target] = append(out[e.Target], e.Policy)
			}
		}
	}
	for _, policies := range out {
		slices.Sort(policies)
	}
	return out
}

// counted are the fields of metadata that the API server chooses.
var counted = []string{"uid", "creationTimestamp", "resourceVersion", "generation", "managedFields"}

// significant returns an object without the fields that the API server chooses.
func significant(o simulate.Object) simulate.Object {
	if o == nil {
		return nil
	}
	out := maps.Clone(o)
	metadata, _ := o["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, field := range counted {
		delete(metadata, field)
	}
	out["metadata"] = metadata
	return out
}

// same compares plain JSON values.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

package compare

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/engine/world"
)

// Objects returns the objects that differ between two lists, by kind, namespace and
// name, and how many do not. What the API server chooses, such as versions, is not
// compared.
func Objects(before, after []simulate.Object) (changes []Change, unchanged int) {
	old, now := byID(before), byID(after)
	for _, id := range union(old, now) {
		change := Change{Target: target(id), Verb: VerbUpdate, Policies: []string{}, Fields: diff(significant(old[id]), significant(now[id]))}
		switch {
		case old[id] == nil:
			change.Verb = VerbCreate
		case now[id] == nil:
			change.Verb = VerbDelete
		case len(change.Fields) == 0:
			unchanged++
			continue
		}
		changes = append(changes, change)
	}
	return changes, unchanged
}

// take adds changes, with the policies that write each object. One that nobody
// writes is collected by the API server.
func (r *Result) take(changes []Change, writers map[simulate.Target][]string) {
	for _, c := range changes {
		switch c.Verb {
		case VerbCreate:
			r.Created++
		case VerbDelete:
			r.Deleted++
		default:
			r.Changed++
		}
		if policies := writers[c.Target]; policies != nil {
			c.Policies = policies
		}
		r.Changes = append(r.Changes, c)
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
	return simulate.Target{APIVersion: id.APIVersion(), Kind: id.Kind(), Namespace: id.Namespace(), Name: id.Name()}
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

// significant returns an object as people see it, without the fields that the API server
// chooses.
func significant(o simulate.Object) simulate.Object {
	if o == nil {
		return nil
	}
	out := maps.Clone(snapshot.ShownObject(o))
	metadata, _ := out["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, field := range counted {
		delete(metadata, field)
	}
	out["metadata"] = metadata
	return out
}

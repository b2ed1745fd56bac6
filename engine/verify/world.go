package verify

import (
	"errors"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// world is where the search begins, and what may change in it from outside.
type world struct {
	objects []simulate.Object
	// spare are objects that may be created.
	spare []simulate.Object
	// left counts the objects that were left out.
	left int
	// reads are the fields that policies read, by kind.
	reads     map[schema.GVK][][]string
	constants constants
	// siblings are the texts that fields of objects have.
	siblings map[string][]string
	// others are the names of the other objects of a kind, by the name of one: a text
	// that is a name may turn to another object.
	others map[string][]string
	// times are those that a field may turn to.
	times []any
}

// worldOf returns the world to explore: what is given, reduced.
func worldOf(o *Options) (world, error) {
	w := world{reads: readsOf(o), constants: constantsOf(o.Policies), times: timesAt(o.Start)}
	if len(w.reads) == 0 {
		return w, errors.New("the policies read nothing")
	}
	w.reduce(o)
	w.siblings, w.others = siblings(w), others(w)
	return w, nil
}

// timesAt returns a time from which nothing has waited, and one from which everything has
// waited long enough.
func timesAt(start time.Time) []any {
	return []any{start.UTC().Format(time.RFC3339), start.UTC().AddDate(-1, 0, 0).Format(time.RFC3339)}
}

func anys(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

// others are the names of the other objects of the kinds of an object, by its name.
func others(w world) map[string][]string {
	out := map[string][]string{}
	all := slices.Concat(w.objects, w.spare)
	for _, o := range all {
		for _, other := range all {
			id, to := simulate.ID(o), simulate.ID(other)
			if gvkOf(o) == gvkOf(other) && id.Name() != to.Name() && !slices.Contains(out[id.Name()], to.Name()) {
				out[id.Name()] = append(out[id.Name()], to.Name())
			}
		}
	}
	return out
}

// siblings are the texts that fields have in the world, by where they are.
func siblings(w world) map[string][]string {
	out := map[string][]string{}
	for _, o := range slices.Concat(w.objects, w.spare) {
		collect(out, o, "")
	}
	return out
}

func collect(out map[string][]string, v any, name string) {
	switch v := v.(type) {
	case simulate.Object:
		for key, field := range v {
			collect(out, field, key)
		}
	case []any:
		for _, item := range v {
			collect(out, item, name)
		}
	case string:
		if !slices.Contains(out[name], v) {
			out[name] = append(out[name], v)
			slices.Sort(out[name])
		}
	}
}

// siblingKey is the last name on the way to a place.
func siblingKey(p place) string {
	for _, part := range slices.Backward(p.names) {
		if name, ok := part.(string); ok {
			return name
		}
	}
	return ""
}

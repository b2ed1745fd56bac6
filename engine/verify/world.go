package verify

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/value"
)

// defaultPerKind is how many objects of each kind a world is made of that nobody gives.
const defaultPerKind = 2

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

// worldOf returns the world to explore: what is given, reduced, or what is made.
func worldOf(o *Options) (world, error) {
	w := world{reads: readsOf(o), constants: constantsOf(o.Policies), times: timesAt(o.Start)}
	if len(w.reads) == 0 {
		return w, errors.New("the policies read nothing")
	}
	if len(o.Objects) == 0 {
		w.make(o)
	} else {
		w.reduce(o)
	}
	w.siblings, w.others = siblings(w), others(w)
	return w, nil
}

// timesAt returns a time from which nothing has waited, and one from which everything has
// waited long enough.
func timesAt(start time.Time) []any {
	return []any{start.UTC().Format(time.RFC3339), start.UTC().AddDate(-1, 0, 0).Format(time.RFC3339)}
}

// make makes objects of each kind that is read: one with the least, and others with the
// fields that are read.
func (w *world) make(o *Options) {
	count := o.PerKind
	if count == 0 {
		count = defaultPerKind
	}
	kinds := slices.SortedFunc(maps.Keys(w.reads), func(a, b schema.GVK) int { return strings.Compare(a.String(), b.String()) })
	for _, kind := range kinds {
		if onlyKept(o.Policies, kind) {
			continue
		}
		for i := range count {
			w.objects = append(w.objects, w.object(o, kind, i))
		}
	}
}

// onlyKept reports whether policies read a kind for their children alone. An object of it
// that is made is somebody else's, often with the name of a child, which a policy refuses.
func onlyKept(policies []*plan.Policy, kind schema.GVK) bool {
	kept := false
	for _, p := range policies {
		if p.Primary.GVK == kind {
			return false
		}
		for _, in := range p.Inputs {
			if in.Source.GVK != kind {
				continue
			}
			if !children.IsInput(in.Name) {
				return false
			}
			kept = true
		}
	}
	return kept
}

// object makes an object. The first has all the fields that are read, as far as values
// are known for them, the last the least.
func (w *world) object(o *Options, kind schema.GVK, i int) simulate.Object {
	meta := simulate.Object{"name": string(rune('a' + i))}
	namespace, labels := chosen(o.Policies, kind, i)
	if r, ok := o.Schemas.Resource(kind); ok && r.Namespaced {
		meta["namespace"] = cmp.Or(namespace, "default")
	}
	if len(labels) > 0 {
		meta["labels"] = labels
	}
	out := simulate.Object{"apiVersion": kind.APIVersion, "kind": kind.Kind, "metadata": meta}
	t, _ := o.Schemas.Kind(kind)
	for _, path := range w.reads[kind] {
		if slices.Contains(path, each) || i > 0 && path[0] == "status" {
			continue
		}
		if v := w.first(t, path, i); v != nil {
			patch := patched(out, anys(path), v)
			if next, err := simulate.Merged(out, patch); err == nil {
				out = next
			}
		}
	}
	complete(t, out)
	return out
}

// chosen returns a namespace and labels with which the policies see an object of a kind. Of
// those that want others, object i is for the one that comes at i.
func chosen(policies []*plan.Policy, kind schema.GVK, i int) (namespace string, out simulate.Object) {
	type choice struct {
		namespace string
		selector  *selector.Selector
	}
	var choices []choice
	for _, p := range policies {
		if p.Primary.GVK == kind {
			choices = append(choices, choice{strings.Join(p.Primary.Namespaces[:min(1, len(p.Primary.Namespaces))], ""), p.Primary.Selector})
		}
		for _, in := range p.Inputs {
			if in.Source.GVK != kind || children.IsInput(in.Name) {
				continue
			}
			if s, err := selector.Parse(value.OfString(in.Source.Selector)); err == nil {
				choices = append(choices, choice{in.Source.Namespace, s})
			}
		}
	}
	out = simulate.Object{}
	for n := range choices {
		c := choices[(n+i)%len(choices)]
		namespace = cmp.Or(namespace, c.namespace)
		for key, label := range c.selector.Example() {
			if _, taken := out[key]; !taken {
				out[key] = label
			}
		}
	}
	return namespace, out
}

func anys(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

// first returns a value for a field; nil is none.
func (w *world) first(t *schema.Type, path []string, i int) any {
	name := path[len(path)-1]
	for _, part := range path {
		if t != nil {
			t = t.Field(part)
		}
	}
	if t == nil {
		return nil
	}
	switch texts, numbers := rotated(w.constants.texts[name], i), rotated(w.constants.numbers[name], i); {
	case len(t.Enum) > 0:
		return t.Enum[i%len(t.Enum)]
	case t.Kind == schema.Bool:
		return i == 0
	case t.Kind == schema.Int:
		return taken(t, append(numbers, int64(i)))
	case t.Kind == schema.String:
		name := string(rune('a' + i)) // of another object, perhaps
		return taken(t, slices.Concat(texts, []any{name}, forms))
	case t.Quantity:
		return "1Gi"
	}
	return nil
}

// rotated returns a list with its item i first.
func rotated[T any](list []T, i int) (out []any) {
	for n := range list {
		out = append(out, list[(n+i)%len(list)])
	}
	return out
}

// taken returns the value that fits; nil if the API server refuses all of them.
func taken(t *schema.Type, values []any) any {
	if v := fitting(t, values...); !refused(t, v) {
		return v
	}
	return nil
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

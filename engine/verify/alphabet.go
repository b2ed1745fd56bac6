package verify

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/value"
)

// maxValues bounds the values of one field.
const maxValues = 4

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
}

// fixed are fields that nobody changes from outside.
var fixed = []string{
	"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.generation",
	"metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.ownerReferences", "metadata.managedFields",
}

// each stands in a path for every item of a list and every value of a map.
const each = "[*]"

// readsOf returns the paths of the fields that policies read, by kind.
func readsOf(o *Options) map[schema.GVK][][]string {
	masks := map[schema.GVK]*value.Mask{}
	for _, p := range o.Policies {
		for kind, mask := range graph.Reads(p) {
			masks[kind] = value.Merge(masks[kind], mask)
		}
		for _, t := range p.Targets { // somebody else changes what an action writes
			masks[t.Source.GVK] = value.Merge(masks[t.Source.GVK], t.Reads)
		}
	}
	out := map[schema.GVK][][]string{}
	for kind, mask := range masks {
		out[kind] = slices.DeleteFunc(paths(mask, nil), func(path []string) bool {
			return slices.Contains(fixed, strings.Join(path, ".")) || len(path) > 1 && path[1] == "ownerReferences"
		})
	}
	return out
}

// paths returns the fields under a mask that it names to the end.
func paths(m *value.Mask, at []string) (out [][]string) {
	if m == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		out = append(out, paths(m.Fields[name], append(slices.Clone(at), name))...)
	}
	if m.Each != nil {
		out = append(out, paths(m.Each, append(slices.Clone(at), each))...)
	}
	if len(out) == 0 && len(at) > 0 {
		out = [][]string{at}
	}
	return out
}

// alphabet returns the changes from outside that there may be of some objects.
func (s *search) alphabet(objects []simulate.Object) (out []Move) {
	there := map[simulate.Identity]bool{}
	for _, o := range objects {
		id := simulate.ID(o)
		there[id] = true
		paths, read := s.world.reads[id.GVK]
		if !read {
			continue
		}
		for _, path := range paths {
			out = append(out, s.edits(o, path)...)
		}
		for _, path := range parents(paths) {
			out = append(out, s.removals(o, path)...)
		}
		out = append(out, Move{Delete: &id})
	}
	for _, o := range slices.Concat(s.world.objects, s.world.spare) {
		if there[simulate.ID(o)] {
			continue
		}
		out = append(out, Move{Apply: o})
		if o["status"] != nil { // as it is before anybody has looked at it
			fresh := maps.Clone(o)
			delete(fresh, "status")
			out = append(out, Move{Apply: fresh})
		}
	}
	return out
}

// edits returns the changes of one field of an object: each of its places, where it is
// one of the items of a list.
func (s *search) edits(o simulate.Object, path []string) (out []Move) {
	kind := gvkOf(o)
	t, _ := s.options.Schemas.Kind(kind)
	at := place{typ: t}
	for _, p := range at.find(o, path) {
		for _, v := range s.values(p) {
			if patch := patched(o, p.names, v); patch != nil {
				out = append(out, Move{Patch: patch})
			}
		}
	}
	return out
}

// parents returns what fields are in, each once, but for the parts that every object
// has.
func parents(paths [][]string) (out [][]string) {
	for _, path := range paths {
		for n := 1; n < len(path); n++ {
			at := path[:n]
			known := slices.ContainsFunc(out, func(other []string) bool { return slices.Equal(at, other) })
			if !known && !slices.Contains([]string{"metadata", "status"}, strings.Join(at, ".")) && at[n-1] != each {
				out = append(out, at)
			}
		}
	}
	return out
}

// removals returns the changes that remove a field as a whole, where it may be absent.
func (s *search) removals(o simulate.Object, path []string) (out []Move) {
	t, _ := s.options.Schemas.Kind(gvkOf(o))
	for _, p := range (place{typ: t}).find(o, path) {
		if p.required || p.now == nil {
			continue
		}
		if patch := patched(o, p.names, nil); patch != nil {
			out = append(out, Move{Patch: patch})
		}
	}
	return out
}

// place is a field of an object, or where it would be.
type place struct {
	// names lead there: names of fields, and indexes of items.
	names []any
	// typ is what is known of its values, required that it must be there.
	typ      *schema.Type
	required bool
	now      any
}

// find returns the places of a path in a value.
func (p place) find(v any, path []string) []place {
	p.now = v
	if len(path) == 0 {
		return []place{p}
	}
	name, rest := path[0], path[1:]
	if name != each {
		m, _ := v.(simulate.Object)
		if _, scalar := v.(string); scalar {
			return nil
		}
		return p.into(name, p.typ != nil && p.typ.Kind == schema.Object && !p.typ.MayLack(name), field(p.typ, name)).find(m[name], rest)
	}
	var out []place
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			out = append(out, p.into(i, true, p.typ.Item()).find(item, rest)...)
		}
	case simulate.Object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, p.into(key, false, field(p.typ, key)).find(v[key], rest)...)
		}
	}
	return out
}

func field(t *schema.Type, name string) *schema.Type {
	if t == nil {
		return nil
	}
	return t.Field(name)
}

func (p place) into(name any, required bool, t *schema.Type) place {
	return place{names: append(slices.Clone(p.names), name), typ: t, required: required}
}

var amount = regexp.MustCompile(`^[0-9.]+([KMGTPE]i?|m)?$`)

// values returns what a field may be instead of what it is; nil is absent.
func (s *search) values(p place) (out []any) {
	var all []any
	if !p.required && p.now != nil {
		all = append(all, nil)
	}
	for _, v := range append(all, s.boundaries(p)...) {
		if text(v) != text(p.now) && len(out) < maxValues {
			out = append(out, v)
		}
	}
	return out
}

// boundaries returns values at which decisions may change.
func (s *search) boundaries(p place) []any {
	if p.typ == nil || p.typ.Kind == schema.Dyn && !p.typ.Quantity {
		return s.untyped(p)
	}
	switch {
	case len(p.typ.Enum) > 0:
		return anys(p.typ.Enum)
	case p.typ.Quantity:
		return []any{"0", "1Gi"}
	}
	switch p.typ.Kind {
	case schema.Bool:
		return []any{true, false}
	case schema.Int:
		return s.numbers(p)
	case schema.Time:
		return []any{"2026-01-01T00:00:00Z"}
	case schema.String:
		return s.texts(p)
	case schema.List:
		if p.now != nil {
			return []any{[]any{}}
		}
	}
	return nil
}

// untyped returns the values of a field of which only the value is known.
func (s *search) untyped(p place) []any {
	switch now := p.now.(type) {
	case bool:
		return []any{!now}
	case int64:
		return s.numbers(p)
	case string:
		if amount.MatchString(now) {
			return []any{"0", "1Gi"}
		}
		return s.texts(p)
	case nil:
		return anys(s.world.constants.texts[p.name()])
	}
	return nil
}

// name is the last name of a field; "" is an item of a list.
func (p place) name() string {
	name, _ := p.names[len(p.names)-1].(string)
	return name
}

func (s *search) numbers(p place) (out []any) {
	for _, n := range s.world.constants.numbers[p.name()] {
		out = append(out, n)
	}
	now, _ := p.now.(int64)
	return append(out, int64(0), now+1)
}

func (s *search) texts(p place) []any {
	now, _ := p.now.(string)
	out := slices.Concat(anys(s.world.others[now]), anys(s.world.constants.texts[p.name()]), anys(s.world.siblings[siblingKey(p)]))
	if now == "" || len(out) <= 1 {
		out = append(out, "a")
	}
	return out
}

// patched returns a merge patch that sets a field; lists are whole in it.
func patched(o simulate.Object, names []any, v any) simulate.Object {
	id := simulate.ID(o)
	meta := simulate.Object{"name": id.Name}
	if id.Namespace != "" {
		meta["namespace"] = id.Namespace
	}
	out := simulate.Object{"apiVersion": id.APIVersion, "kind": id.Kind, "metadata": meta}
	at, from := out, any(o)
	for i, name := range names {
		key, ok := name.(string)
		if !ok {
			return nil
		}
		m, _ := from.(simulate.Object)
		from = m[key]
		list, isList := from.([]any)
		switch {
		case i == len(names)-1:
			at[key] = v
			return out
		case isList:
			changed, _ := set(runtime.DeepCopyJSONValue(list), names[i+1:], v).([]any)
			at[key] = changed
			return out
		}
		next, _ := at[key].(simulate.Object)
		if next == nil {
			next = simulate.Object{}
			at[key] = next
		}
		at = next
	}
	return nil
}

// set changes a part of a value in place, and returns it.
func set(v any, names []any, to any) any {
	if len(names) == 0 {
		return to
	}
	switch name := names[0].(type) {
	case int:
		list, _ := v.([]any)
		list[name] = set(list[name], names[1:], to)
		return list
	default:
		m, _ := v.(simulate.Object)
		if m == nil {
			m = simulate.Object{}
		}
		key, _ := name.(string)
		if to == nil && len(names) == 1 {
			delete(m, key)
			return m
		}
		m[key] = set(m[key], names[1:], to)
		return m
	}
}

package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// lookUpCreated is lookUp among the objects that do not exist yet.
func (s search) lookUpCreated(name value.Value) *world.Object {
	for _, o := range s.created() {
		if m, ok := name.(*value.Map); ok {
			if o.Namespace == value.StringAt(m, "namespace") && o.Name == value.StringAt(m, "name") {
				return o
			}
		} else if text, _ := value.Str(name); o.Name == text && (o.Namespace == "" || o.Namespace == s.ev.in.Key.Namespace) {
			return o
		}
	}
	return nil
}

// created returns the objects that do not exist yet and that an input would
// find, in order.
func (s search) created() (out []*world.Object) {
	if s.in.Off {
		return nil
	}
	for id, o := range s.ev.overlay.created {
		if id.GVK() == s.in.Source.GVK && holds(s.in.Source, o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, world.Compare)
	return out
}

// holds reports whether a source would hold an object, if it existed.
func holds(source world.Source, o *world.Object) bool {
	if !source.May(o.ID()) {
		return false
	}
	if source.Selector == "" {
		return true
	}
	s, err := selector.Parse(value.OfString(source.Selector))
	return err == nil && s.Matches(value.Path(o.Value, "metadata", "labels"))
}

// every returns all objects that an input can be about, in order.
func (s search) every() []*world.Object {
	created := s.created()
	if len(created) == 0 {
		return s.table.All()
	}
	out := slices.Concat(s.table.All(), created)
	slices.SortFunc(out, world.Compare)
	return out
}

// lookUp finds the object that a `get` names: a name, in the namespace of the
// key when the kind has namespaces, or {namespace, name}.
func lookUp(table *world.Table, name value.Value, namespace string) *world.Object {
	if m, ok := name.(*value.Map); ok {
		return table.Get(value.StringAt(m, "namespace"), value.StringAt(m, "name"))
	}
	text, ok := value.Str(name)
	if !ok || text == "" {
		return nil
	}
	if o := table.Get("", text); o != nil {
		return o
	}
	return table.Get(namespace, text)
}

// probes returns the index keys under which an input's members are found.
func (s search) probes() []string {
	return s.in.Join.Probe.Keys(s.ev.frame(), s.ev.meter)
}

// candidates returns the objects that can be members: those an index finds
// under the probes, or all. Objects that the overlay has changed are always
// among them.
//
// names are the probes of an exact index. The list must not be changed.
func (s search) candidates(probes []string, names texts) []*world.Object {
	if !indexed(s.in, s.table) {
		return s.every()
	}
	changed := s.overlaid()
	if len(probes) == 1 && len(changed) == 0 {
		return s.table.Lookup(s.in.Index, probes[0])
	}
	out, sorted := []*world.Object(nil), names != nil && len(names) > s.table.Len()/manyNames && s.in.Join.Item.IsName()
	if sorted {
		out = ofNames(s.table, names)
	} else {
		for _, probe := range probes {
			out = append(out, s.table.Lookup(s.in.Index, probe)...)
		}
		sorted = len(probes) <= 1
	}
	out = append(out, changed...)
	if !sorted || len(changed) > 0 {
		slices.SortFunc(out, world.Compare)
		out = slices.Compact(out)
	}
	return out
}

// manyNames is from which part of the objects on it is less work to look at the names of
// all of them than to ask the index for each name.
const manyNames = 4

// ofNames returns the objects of some names, in order.
func ofNames(table *world.Table, names texts) []*world.Object {
	out := make([]*world.Object, 0, len(names))
	at, found := 0, false
	for _, o := range table.All() {
		if at == len(names) || names[at] != o.Name { // mostly it is the next
			if at, found = slices.BinarySearch(names, o.Name); !found {
				continue
			}
		}
		out = append(out, o)
		at++
	}
	return out
}

// indexed reports whether a table has the index of an input.
func indexed(in *plan.Input, table *world.Table) bool { return in.Index != "" && table.Has(in.Index) }

func (s search) overlaid() (out []*world.Object) {
	for id := range s.ev.overlay.objects {
		if id.GVK() == s.in.Source.GVK {
			if o := s.table.Get(id.Namespace(), id.Name()); o != nil {
				out = append(out, o)
			}
		}
	}
	return append(out, s.created()...)
}

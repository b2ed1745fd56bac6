package eval

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// member is an object that belongs to an input.
type member struct {
	object *world.Object
	value  value.Value
	key    string
	order  []value.Value
}

// search finds the members of an input among the objects of a table, which only what
// goes through the table needs.
type search struct {
	ev    *evaluation
	in    *plan.Input
	table *world.Table
}

// judge reports whether an object is a member of an input, and where it stands
// in it. An object on which an expression fails is none. The frame is used for it.
func (s search) judge(o *world.Object, f *frame) *member {
	if !s.in.Near(s.ev.in.Key.Namespace, o) {
		return nil
	}
	m := s.consider(o, f)
	if s.in.Where != nil {
		holds, err := s.in.Where.Eval(f, s.ev.meter)
		if err != nil {
			s.ev.met(err)
			s.ev.decision.Skipped++
			return nil
		}
		if !value.IsTrue(holds) {
			return nil
		}
	}
	if !s.locate(m, f) {
		return nil
	}
	return m
}

// consider returns an object as a member that is judged next in a frame.
func (s search) consider(o *world.Object, f *frame) *member {
	m := &member{object: o, value: s.ev.overlay.of(o)}
	f.locals = f.locals[:0]
	f.push("item", m.value)
	return m
}

// admit is judge for an input whose index is exact: an object is a member if
// one of its index keys is among the probes.
func (s search) admit(o *world.Object, probes texts, f *frame) *member {
	m := s.consider(o, f)
	if !s.among(m, f, probes) || !s.locate(m, f) {
		return nil
	}
	return m
}

// fewProbes is up to how many probes the index is asked about each of them. An object
// may have thousands of keys, and so may the key of the evaluation have probes: it is
// never both that are gone through.
const fewProbes = 16

// among reports whether one of an object's index keys is among the probes. The index
// of the table has the keys, unless the evaluation has changed the object; it is asked
// about few probes only, and the keys are computed for more.
func (s search) among(m *member, f *frame, probes texts) bool {
	o := m.object
	if len(probes) > fewProbes || m.value != o.Value || !indexed(s.in, s.table) || s.table.Get(o.Namespace, o.Name) != o {
		return slices.ContainsFunc(s.in.Join.Item.Keys(f, s.ev.meter), func(key string) bool { return probes.has(key) })
	}
	for _, key := range probes {
		if s.table.Under(s.in.Index, key, o) {
			return true
		}
	}
	return false
}

// locate computes a member's key and order; without a key it has no place in
// a map. Where an expression of the order fails, the member comes after all others.
func (s search) locate(m *member, f *frame) bool {
	if s.in.Key != nil {
		v, err := s.in.Key.Eval(f, s.ev.meter)
		if err != nil {
			s.ev.met(err)
			return false
		}
		if m.key, _ = value.Str(value.Unwrap(v)); m.key == "" {
			return false
		}
	}
	if len(s.in.OrderBy) > 0 {
		m.order = make([]value.Value, len(s.in.OrderBy))
	}
	for i, o := range s.in.OrderBy {
		v, err := o.Eval(f, s.ev.meter)
		if err != nil {
			s.ev.met(err)
			v = value.Last
		}
		m.order[i] = v
	}
	return true
}

// inputValue makes an input's value of its members, which are sorted by
// namespace and name.
func inputValue(in *plan.Input, members []*member) (value.Value, error) {
	if len(in.OrderBy) > 0 {
		members = slices.Clone(members)
		slices.SortStableFunc(members, func(a, b *member) int { return value.CompareAll(a.order, b.order) })
	}
	if in.Shape == plan.Keyed || in.Shape == plan.Grouped {
		return mapOf(in, members)
	}
	list := make([]value.Value, len(members))
	for i, m := range members {
		list[i] = m.value
	}
	return value.Borrowed(value.NewList(list)), nil
}

// mapOf makes a map of members by their keys.
func mapOf(in *plan.Input, members []*member) (value.Value, error) {
	all := newPairs(len(members))
	for _, m := range members {
		all.add(m.key, m.value)
	}
	if in.Shape == plan.Grouped {
		return value.Borrowed(all.grouped()), nil
	}
	out, twice := all.keyed()
	if twice != nil {
		return nil, &expr.Failure{At: in.Key.Pos(), Err: fmt.Errorf("two objects of the input %q have the key %q", in.Name, value.Cut(*twice, 253))}
	}
	return value.Borrowed(out), nil
}

// one resolves an input that names its object.
func (s search) one() (value.Value, error) {
	name, err := s.in.Get.Eval(s.ev.frame(), s.ev.meter)
	if err != nil {
		return nil, err
	}
	o := lookUp(s.table, value.Unwrap(name), s.ev.in.Key.Namespace)
	if o == nil {
		o = s.lookUpCreated(value.Unwrap(name))
	}
	if o == nil {
		return value.Null, nil
	}
	return s.ev.overlay.of(o), nil
}

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
		if id.GVK == s.in.Source.GVK && holds(s.in.Source, o) {
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
		if id.GVK == s.in.Source.GVK {
			if o := s.table.Get(id.Namespace, id.Name); o != nil {
				out = append(out, o)
			}
		}
	}
	return append(out, s.created()...)
}

// IndexKeys returns the keys under which an input's index finds an object: for
// the world's tables.
func IndexKeys(p *plan.Policy, in *plan.Input, o *world.Object, meter *expr.Meter) []string {
	f := indexFrames.Get().(*frame)
	f.ev.in.Policy, f.ev.meter = p, meter
	f.push("item", o.Value)
	out := in.Join.Item.Keys(f, meter)
	f.locals[0] = local{}
	f.locals, f.ev.in.Policy, f.ev.meter = f.locals[:0], nil, nil
	indexFrames.Put(f)
	return out
}

// indexFrames are scopes of objects alone, to be used again.
var indexFrames = sync.Pool{New: func() any {
	ev := &evaluation{decision: &Decision{}}
	ev.reader = &plainReader{ev: ev}
	return &frame{ev: ev}
}}

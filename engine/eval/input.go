package eval

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
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
	if !s.in.Near(s.ev.in.Key.Namespace, o) || !s.kept(o) {
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

// kept reports whether the policy has written an object, if the input has only those. A copy
// with the marks of a child has another manager. It reports true if no manager is noted.
func (s search) kept(o *world.Object) bool {
	m := o.Managers()
	return !s.in.Kept || m == nil || m.Has(world.ManagerPrefix+s.ev.in.Policy.Owner())
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
	return slices.ContainsFunc(probes, func(key string) bool { return s.table.Under(s.in.Index, key, o) })
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

package value

import (
	"cmp"
	"slices"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/scan"
)

// opened is an object under way.
type opened struct {
	// plan is that of the object before, or of the one that is like it; nil for none.
	plan         *plan
	before, like *Map
	// base is where its fields begin among the entries.
	base int
}

// field is a field of an object that is being decoded. place is where its name
// stands in the plan; less than 0 if it does not.
type field struct {
	place int
	name  string
	value Value
}

func (d *decoder) object(at *spot, was known) (Value, error) {
	if err := d.Enter(); err != nil {
		return nil, err
	}
	o := opened{before: mapOf(was.before), like: mapOf(was.like), base: len(d.entries)}
	hint := o.before
	if hint == nil {
		hint = o.like
	}
	if hint == nil || hint.shape == nil {
		return d.fields(at, &o, nil)
	}
	o.plan = d.plan(hint.shape, at)
	out, done, err := d.foreseen(&o)
	if out != nil || err != nil {
		return out, err
	}
	return d.fields(at, &o, done)
}

// known returns what is known of the field at a place of the plan. The object before has
// the fields of the plan.
func (o *opened) known(place int) (out known) {
	if o.before != nil {
		out.before = o.before.vals[place]
	}
	switch {
	case o.like == nil:
	case o.like.shape == o.plan.shape:
		out.like = o.like.vals[place]
	default:
		out.like = o.like.Lookup(o.plan.names[place])
	}
	return out
}

func mapOf(v Value) *Map {
	m, _ := v.(*Map)
	return m
}

// fields decodes the fields of an object behind those of some steps.
func (d *decoder) fields(at *spot, o *opened, done []step) (Value, error) {
	learns, order := o.plan.learns(), []taken(nil)
	if learns {
		order = takenOf(done)
	}
	for n := len(done); ; n++ {
		more, err := d.More(n == 0, '}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		raw, plain, err := d.Key()
		if err != nil {
			return nil, err
		}
		place, err := d.field(at, o, raw, plain, n)
		if err != nil {
			return nil, err
		}
		if learns = learns && plain && place != unknown; learns {
			order = append(order, taken{raw, place})
		}
	}
	d.Leave()
	taken := d.entries[o.base:]
	d.entries = d.entries[:o.base]
	out, asPlanned := d.finish(o, taken)
	if learns && asPlanned {
		o.plan.learn(order)
	}
	return out, nil
}

// field decodes a field, unless nobody asks for it, and returns the place of its name.
func (d *decoder) field(at *spot, o *opened, raw []byte, plain bool, n int) (int, error) {
	place, inner, name := o.plan.find(raw, n), (*spot)(nil), ""
	switch {
	case place >= 0:
		name, inner = o.plan.names[place], &o.plan.spots[place]
	case plain && !at.mask.keeps(raw):
		return passed, d.Skip()
	default:
		var err error
		if name, err = scan.Unquote(raw, plain); err != nil {
			return 0, err
		}
		own := at.field(name)
		inner = &own
	}
	if inner.mask == nil {
		return unknown, d.Skip()
	}
	v, err := d.value(inner, known{o.plan.value(o.before, place, name), o.plan.value(o.like, place, name)})
	switch {
	case err != nil:
		return 0, err
	case v == Value(types.NullValue): // counts as absent, also after a value of the same name
		d.entries = append(d.entries[:o.base], slices.DeleteFunc(d.entries[o.base:], func(f field) bool { return f.name == name })...)
		return unknown, nil
	}
	d.entries = append(d.entries, field{place, name, v})
	return place, nil
}

// finish makes an object of its fields, and reports whether they are those of its plan.
func (d *decoder) finish(o *opened, fields []field) (out Value, asPlanned bool) {
	if len(fields) == 0 {
		if o.before != nil && o.before.Len() == 0 {
			return o.before, false
		}
		return Empty, false
	}
	if o.plan != nil && len(fields) == len(o.plan.names) {
		if m := d.planned(o, fields); m != nil {
			return m, true
		}
	}
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	keys, vals, deep := make([]string, 0, len(fields)), make([]Value, 0, len(fields)), HolderBytes
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].name == f.name {
			continue // the last of a name counts
		}
		keys, vals = append(keys, f.name), append(vals, f.value)
		deep += ScalarBytes + len(f.name) + Deep(f.value)
	}
	if o.before != nil && slices.Equal(keys, o.before.keys()) && sameItems(vals, o.before.vals) {
		return o.before, false
	}
	return &Map{shape: ownShape(keys), vals: vals, sizes: partSizes(deep)}, false
}

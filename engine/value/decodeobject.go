package value

import (
	"cmp"
	"slices"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/scan"
)

func (d *decoder) object(at spot) (Value, error) {
	if err := d.Enter(); err != nil {
		return nil, err
	}
	before, like := mapOf(at.before), mapOf(at.like)
	hint := before
	if hint == nil {
		hint = like
	}
	var p *plan
	if hint != nil && hint.shape != nil {
		p = d.plan(hint.shape, at)
	}
	base := len(d.entries)
	for n := 0; ; n++ {
		more, err := d.More(n == 0, '}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := d.field(at, p, before, like, base, n); err != nil {
			return nil, err
		}
	}
	d.Leave()
	fields := d.entries[base:]
	d.entries = d.entries[:base]
	return d.finish(fields, p, hint, before), nil
}

func mapOf(v Value) *Map {
	m, _ := v.(*Map)
	return m
}

// field decodes a field, unless nobody asks for it.
func (d *decoder) field(at spot, p *plan, before, like *Map, base, n int) error {
	raw, plain, err := d.Key()
	if err != nil {
		return err
	}
	place, inner, name := p.find(raw, n), spot{}, ""
	switch {
	case place >= 0:
		name, inner = p.names[place], p.spots[place]
	case plain && !at.mask.keeps(raw):
		return d.Skip()
	default:
		if name, err = scan.Unquote(raw, plain); err != nil {
			return err
		}
		inner = at.field(name)
	}
	if inner.mask == nil {
		return d.Skip()
	}
	inner.before, inner.like = p.value(before, place, name), p.value(like, place, name)
	v, err := d.value(inner)
	switch {
	case err != nil:
		return err
	case v == Value(types.NullValue): // counts as absent, also after a value of the same name
		d.entries = append(d.entries[:base], slices.DeleteFunc(d.entries[base:], func(f field) bool { return f.name == name })...)
		return nil
	}
	d.entries = append(d.entries, field{place, name, v})
	return nil
}

// find returns where a name stands in a plan, or -1. Names come mostly in the order
// of the plan: guess is where it is looked for first.
func (p *plan) find(raw []byte, guess int) int {
	if p == nil {
		return -1
	}
	if guess < len(p.names) && p.names[guess] == string(raw) {
		return guess
	}
	for i := range p.names {
		if p.names[i] == string(raw) {
			return i
		}
	}
	return -1
}

// value returns the field of an object that stands at a place of the plan, if it
// does.
func (p *plan) value(of *Map, place int, name string) Value {
	switch {
	case of == nil:
		return nil
	case place >= 0 && of.shape == p.shape:
		return of.vals[place]
	}
	return of.Lookup(name)
}

// finish makes an object of its fields.
func (d *decoder) finish(fields []field, p *plan, hint, before *Map) Value {
	if len(fields) == 0 {
		if before != nil && before.Len() == 0 {
			return before
		}
		return Empty
	}
	if p != nil && len(fields) == len(p.names) {
		if m := d.planned(fields, hint, before); m != nil {
			return m
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
	if before != nil && slices.Equal(keys, before.keys()) && sameItems(vals, before.vals) {
		return before
	}
	return &Map{shape: ownShape(keys), vals: vals, sizes: partSizes(deep)}
}

// planned makes an object with the very fields of another; nil if it has not all of
// them. It is the one from before if they are the same, too.
func (d *decoder) planned(fields []field, hint, before *Map) Value {
	same, seen := before != nil, uint64(0)
	for i, f := range fields {
		if f.place < 0 || len(fields) > 64 && f.place != i || len(fields) <= 64 && seen&(1<<f.place) != 0 {
			return nil
		}
		seen |= 1 << (f.place % 64)
		same = same && before.vals[f.place] == f.value
	}
	if same {
		return before
	}
	vals, deep := d.bulk.values(len(fields)), HolderBytes
	for _, f := range fields {
		vals[f.place] = f.value
		deep += ScalarBytes + len(f.name) + Deep(f.value)
	}
	m := d.bulk.object()
	*m = Map{shape: hint.shape, vals: vals, sizes: partSizes(deep)}
	return m
}

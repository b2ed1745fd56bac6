package value

import (
	"slices"

	"github.com/google/cel-go/common/types"
)

// foreseen decodes an object whose fields stand in the text as those of the last one of
// its plan did: nothing is looked up then. It returns nil for another object; the fields
// of the steps, up to the first that differs, are among the entries then.
func (d *decoder) foreseen(o *opened) (Value, []step, error) {
	p, base, steps := o.plan, len(d.items), o.plan.steps
	if len(steps) == 0 {
		return nil, nil, nil
	}
	d.items = slices.Grow(d.items, len(p.names))[:base+len(p.names)]
	for i, s := range steps {
		if !d.step(s, i == 0) {
			d.giveUp(o, base, steps[:i])
			return nil, steps[:i], nil
		}
		if s.place < 0 {
			if err := d.Skip(); err != nil {
				return nil, nil, err
			}
			continue
		}
		v, err := d.value(&p.spots[s.place], o.known(s.place))
		if err != nil {
			return nil, nil, err
		}
		if v == Value(types.NullValue) { // counts as absent
			d.giveUp(o, base, steps[:i])
			return nil, steps[:i+1], nil
		}
		d.items[base+s.place] = v
	}
	if !d.Has('}') {
		d.giveUp(o, base, steps)
		return nil, steps, nil
	}
	d.Leave()
	out := d.filled(o, d.items[base:])
	d.items = d.items[:base]
	return out, nil, nil
}

// step takes the name of a field that is expected, and reports whether it stands there.
func (d *decoder) step(s step, first bool) bool {
	from := d.At
	if (first || d.Has(',')) && d.HasText(s.text) {
		return true
	}
	d.At = from
	return false
}

// giveUp puts the fields that were taken by some steps among the entries.
func (d *decoder) giveUp(o *opened, base int, steps []step) {
	for _, s := range steps {
		if s.place >= 0 {
			d.entries = append(d.entries, field{s.place, o.plan.names[s.place], d.items[base+s.place]})
		}
	}
	d.items = d.items[:base]
}

// planned makes an object of the very fields of its plan; nil if it has not all of them.
func (d *decoder) planned(o *opened, fields []field) Value {
	seen := uint64(0)
	for i, f := range fields {
		if f.place < 0 || len(fields) > 64 && f.place != i || len(fields) <= 64 && seen&(1<<f.place) != 0 {
			return nil
		}
		seen |= 1 << (f.place % 64)
	}
	base := len(d.items)
	d.items = slices.Grow(d.items, len(fields))[:base+len(fields)]
	vals := d.items[base:]
	for _, f := range fields {
		vals[f.place] = f.value
	}
	d.items = d.items[:base]
	return d.filled(o, vals)
}

// filled makes an object with the fields of its plan. It is the one from before if they
// are the same.
func (d *decoder) filled(o *opened, vals []Value) Value {
	if o.before != nil && sameItems(vals, o.before.vals) {
		return o.before
	}
	own, deep := d.bulk.values(len(vals)), o.plan.deep
	for i, v := range vals {
		own[i] = v
		deep += Deep(v)
	}
	return d.bulk.object(Map{shape: o.plan.shape, vals: own, sizes: partSizes(deep)})
}

package eval

import (
	"github.com/edict-dev/edict/engine/value"
)

// draft is a patch, or an object, into which many patches are merged: frozen objects
// would be copied for each of them.
type draft struct {
	// object says that it is an object: null removes, and what is there already stays.
	object bool
	vals   map[string]value.Value
	// inner are the fields into which something was merged; they are not among vals.
	inner map[string]*draft
}

func draftOf(m *value.Map, object bool) *draft {
	d := &draft{object: object, vals: make(map[string]value.Value, m.Len()), inner: map[string]*draft{}}
	for i := range m.Len() {
		key, v := m.At(i)
		d.vals[key] = v
	}
	return d
}

// merge does what [value.Map.Merged] does, or for an object what mergeDiff does. It returns how
// many bytes are left out of the result at least.
func (d *draft) merge(patch *value.Map) (replaced int) {
	for i := range patch.Len() {
		key, v := patch.At(i)
		if fields, isMap := v.(*value.Map); isMap {
			if inner := d.enter(key); inner != nil {
				replaced += inner.merge(fields)
				continue
			}
		}
		replaced += d.set(key, v)
	}
	return replaced
}

// enter returns the draft of a field; nil if that is no object.
func (d *draft) enter(key string) *draft {
	inner := d.inner[key]
	if m, isMap := d.vals[key].(*value.Map); isMap {
		inner = draftOf(m, d.object)
		d.inner[key] = inner
		delete(d.vals, key)
	}
	return inner
}

// set puts a value in the place of what is there.
func (d *draft) set(key string, v value.Value) (replaced int) {
	was := d.get(key)
	if d.object {
		next, change := mergeDiff(was, v, nil)
		if change == nil {
			return value.Deep(v)
		}
		v = next
	}
	delete(d.inner, key)
	if d.vals[key] = v; v == nil {
		delete(d.vals, key)
	}
	return bytesOf(was)
}

// get returns a field; nil when there is none.
func (d *draft) get(key string) value.Value {
	if inner := d.inner[key]; inner != nil {
		return inner.frozen()
	}
	return d.vals[key]
}

// frozen returns what has come about.
func (d *draft) frozen() *value.Map {
	for key, inner := range d.inner {
		d.vals[key] = inner.frozen()
	}
	clear(d.inner)
	return value.FromMap(d.vals)
}

// bytesOf is how many bytes a value has; nil is none.
func bytesOf(v value.Value) int {
	if v == nil {
		return 0
	}
	return value.Deep(v)
}

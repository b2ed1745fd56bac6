package eval

import (
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// comparison compares what is to be applied with the fields that a manager
// holds, and with the values that they have. How lists are merged is told by
// the fields themselves: the API server has noted items by their keys, by their
// values, or the list as a whole.
type comparison struct {
	// once are paths that are left alone.
	once [][]string
	// values are compared, too.
	values bool
	// digest is the annotation that says nothing by itself.
	digest string
}

// object compares the fields of an object: held are those that the manager has
// there.
func (c *comparison) object(held *fieldpath.Set, want, live value.Value, t *schema.Type, path []string) bool {
	fields, ok := want.(*value.Map)
	if !ok || held == nil {
		return false
	}
	for i := range fields.Len() {
		name, v := fields.At(i)
		at := append(path[:len(path):len(path)], name)
		is := value.Path(live, name)
		if identifies(at) || c.skipped(at) || is == nil && leftOut(v, t, name) {
			continue
		}
		if !c.field(held, name, v, is, t, at) {
			return false
		}
	}
	return c.nothingElse(held, fields, path)
}

// identifies reports whether a field is part of every request, and held by nobody.
func identifies(path []string) bool {
	switch {
	case len(path) == 1:
		return path[0] == "apiVersion" || path[0] == "kind"
	case len(path) == 2 && path[0] == "metadata":
		return path[1] == "name" || path[1] == "namespace"
	}
	return false
}

// nothingElse reports whether the manager holds no field that is not wanted.
func (c *comparison) nothingElse(held *fieldpath.Set, fields *value.Map, path []string) bool {
	extra := false
	see := func(pe fieldpath.PathElement) {
		if pe.FieldName == nil {
			extra = true
			return
		}
		at := append(path[:len(path):len(path)], *pe.FieldName)
		extra = extra || fields.Lookup(*pe.FieldName) == nil && !c.skipped(at) && !c.above(at)
	}
	held.Members.Iterate(see)
	held.Children.Iterate(see)
	return !extra
}

// above reports whether a path leads to one that is left alone.
func (c *comparison) above(path []string) bool {
	return slices.ContainsFunc(c.once, func(once []string) bool {
		return len(once) > len(path) && fmt.Sprint(once[:len(path)]) == fmt.Sprint(path)
	})
}

// field compares one field of an object of type of, or one key of a map.
func (c *comparison) field(held *fieldpath.Set, name string, want, live value.Value, of *schema.Type, path []string) bool {
	pe, t := fieldpath.FieldNameElement(name), of.Field(name)
	inner, deeper := held.Children.Get(pe)
	if len(path) == 3 && path[1] == "annotations" && path[2] == c.digest {
		return held.Members.Has(pe)
	}
	switch w := want.(type) {
	case *value.Map:
		if !deeper && !noted(of, name, w, path) {
			return live != nil // nothing in it is held by anybody
		}
		if deeper {
			return c.object(inner, w, live, t, path)
		}
		if !present(w, live, t) { // held as a whole, or what was in it was taken away
			return false
		}
	case *value.List:
		if deeper {
			return c.list(inner, w, live, t.Item(), path)
		}
		if !noted(of, name, w, path) {
			return true // none of its items is wanted, and none is held
		}
	}
	return held.Members.Has(pe) && (!c.values || alike(want, live, t))
}

// noted reports whether the API server notes a manager for anything in a field of an object
// of type of. It does not for what identifies an object, for empty lists that are merged by
// their items, and for objects with nothing else in them; but it notes the keys of a map
// whatever their values.
func noted(of *schema.Type, name string, v value.Value, path []string) bool {
	if identifies(path) {
		return false
	}
	if of == nil || of.Kind != schema.Object || of.Fields[name] == nil {
		return true
	}
	t := of.Fields[name]
	switch v := v.(type) {
	case *value.List:
		return v.Len() > 0 || !t.Merged
	case *value.Map:
		for i := range v.Len() {
			inner, field := v.At(i)
			if t.Atomic || noted(t, inner, field, append(path[:len(path):len(path)], inner)) {
				return true
			}
		}
		return v.Len() == 0
	}
	return true
}

// list compares a list whose items are held one by one. Those that are found by their keys
// must be in the order in which they are wanted; others may have items between them.
func (c *comparison) list(held *fieldpath.Set, want *value.List, live value.Value, t *schema.Type, path []string) bool {
	left, last := elements(held), -1
	for i := range want.Len() {
		item := want.At(i)
		at, ok := find(left, item)
		if !ok {
			return false
		}
		pe := left[at]
		left = append(left[:at:at], left[at+1:]...)
		if pe.Key == nil { // a set
			continue
		}
		inner, deeper := held.Children.Get(pe)
		place, now := counterpart(live, pe)
		if now != nil && place < last {
			return false
		}
		last = place
		if deeper && !c.item(inner, pe, item, now, t, path) || !deeper && c.values && !alike(item, now, t) {
			return false
		}
	}
	return len(left) == 0
}

// item compares an item that is found by its keys: those that have defaults are
// held, but may be left out.
func (c *comparison) item(held *fieldpath.Set, pe fieldpath.PathElement, want, live value.Value, t *schema.Type, path []string) bool {
	fields, ok := want.(*value.Map)
	if !ok {
		return false
	}
	for _, key := range *pe.Key {
		if fields.Lookup(key.Name) == nil && held.Members.Has(fieldpath.FieldNameElement(key.Name)) {
			fields = fields.With(key.Name, value.Path(live, key.Name))
		}
	}
	return c.object(held, fields, live, t, append(path[:len(path):len(path)], pe.String()))
}

// elements returns the items that are held, each once.
func elements(held *fieldpath.Set) (out []fieldpath.PathElement) {
	held.Members.Iterate(func(pe fieldpath.PathElement) { out = append(out, pe) })
	held.Children.Iterate(func(pe fieldpath.PathElement) {
		if !held.Members.Has(pe) {
			out = append(out, pe)
		}
	})
	return out
}

// find returns the element that an item is: with all its keys first, then with
// keys that the item leaves to their defaults.
func find(elements []fieldpath.PathElement, item value.Value) (int, bool) {
	for _, partly := range []bool{false, true} {
		for i, pe := range elements {
			if pe.Value != nil && !partly && plainEqual((*pe.Value).Unstructured(), item) || pe.Key != nil && hasKeys(pe, item, partly) {
				return i, true
			}
		}
	}
	return 0, false
}

func hasKeys(pe fieldpath.PathElement, item value.Value, partly bool) bool {
	for _, key := range *pe.Key {
		v := value.Path(item, key.Name)
		if v == nil && partly {
			continue
		}
		if v == nil || !plainEqual(key.Value.Unstructured(), v) {
			return false
		}
	}
	return true
}

// counterpart returns the item of the live list that an element names, and its place.
func counterpart(live value.Value, pe fieldpath.PathElement) (place int, item value.Value) {
	for i, item := range items(live) {
		if hasKeys(pe, item, true) {
			return i, item
		}
	}
	return -1, nil
}

func items(v value.Value) []value.Value {
	if list, ok := v.(*value.List); ok {
		return list.Items()
	}
	return nil
}

func plainEqual(raw any, v value.Value) bool {
	a, errA := json.Marshal(raw)
	b, errB := value.JSON(v)
	return errA == nil && errB == nil && string(a) == string(b)
}

// present reports whether an object of type t has all fields, whatever their values.
func present(want, live value.Value, t *schema.Type) bool {
	w, ok := want.(*value.Map)
	if !ok {
		return live != nil || value.IsNull(want)
	}
	for i := range w.Len() {
		name, v := w.At(i)
		is := value.Path(live, name)
		if !present(v, is, t.Field(name)) && (is != nil || !leftOut(v, t, name)) {
			return false
		}
	}
	return true
}

// alike reports whether a value is there: of an object it may have more than is
// wanted.
func alike(want, live value.Value, t *schema.Type) bool {
	switch w := want.(type) {
	case *value.Map:
		for i := range w.Len() {
			name, v := w.At(i)
			is := value.Path(live, name)
			if !alike(v, is, t.Field(name)) && (!leftOut(v, t, name) || !leftOut(is, t, name)) {
				return false
			}
		}
		is, isMap := live.(*value.Map)
		return isMap && (t == nil || t.Kind != schema.Map || is.Len() <= w.Len())
	case *value.List:
		l, ok := live.(*value.List)
		if !ok || l.Len() != w.Len() {
			return false
		}
		for i := range w.Len() {
			if !alike(w.At(i), l.At(i), t.Item()) {
				return false
			}
		}
		return true
	}
	return sameScalar(live, want, t)
}

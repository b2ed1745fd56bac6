package analyze

import (
	"slices"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Flow says where a value may come from: which parts of which objects it may
// be, as far as the text tells. It lets a read through any number of
// variables, loops and lookups be traced to the field of the object that is
// read in the end. A nil Flow is a value made by the expression itself.
type Flow struct {
	// origins are parts of objects that the value may be.
	origins []origin
	// elem is where the items of a list, or the values of a map, that an
	// expression put together come from; key the same for the keys of the map, if
	// the flow is one of values.
	elem, key *Flow
}

// origin is a part of an object: a root, and a path of steps in it.
type origin struct {
	root Root
	path []step
	// derived is true of a value that was computed from the part: all that is taken of
	// it comes from there.
	derived bool
}

// step is a field, or each item of a list and each value of a map.
type step struct {
	field string
	each  bool
}

// From is the flow of a whole object of the given root.
func From(root Root) *Flow { return &Flow{origins: []origin{{root: root}}} }

// ListOf is the flow of a list or a map whose elements come from f.
func ListOf(f *Flow) *Flow {
	if f == nil {
		return nil
	}
	return &Flow{elem: f}
}

// MapOf is the flow of a map whose keys and values come from others.
func MapOf(key, elem *Flow) *Flow {
	if key == nil && elem == nil {
		return nil
	}
	return &Flow{key: key, elem: elem}
}

// Either is the flow of a value that may be any of several.
func Either(flows ...*Flow) (out *Flow) {
	for _, f := range flows {
		out = union(out, f)
	}
	return out
}

// Elem returns the flow of the elements of a list or a map.
func (f *Flow) Elem() *Flow {
	if f == nil {
		return nil
	}
	return union(f.step(step{each: true}), f.elem)
}

// step follows a field from every origin.
func (f *Flow) step(next step) *Flow {
	if f == nil || len(f.origins) == 0 {
		return nil
	}
	out := &Flow{origins: make([]origin, len(f.origins))}
	for i, o := range f.origins {
		if out.origins[i] = o; !o.derived {
			out.origins[i].path = append(slices.Clone(o.path), next)
		}
	}
	return out
}

// field follows a field name; the fields of a map literal are not told apart.
func (f *Flow) field(name string) *Flow {
	if f == nil {
		return nil
	}
	return union(f.step(step{field: name}), f.elem)
}

func union(a, b *Flow) *Flow {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	}
	out := &Flow{elem: union(a.elem, b.elem), key: union(a.key, b.key)}
	out.origins = append(out.origins, a.origins...)
	for _, o := range b.origins {
		if !contains(out.origins, o) {
			out.origins = append(out.origins, o)
		}
	}
	return out
}

func contains(list []origin, o origin) bool {
	return slices.ContainsFunc(list, func(have origin) bool {
		return have.root == o.root && have.derived == o.derived && slices.Equal(have.path, o.path)
	})
}

// Computed returns the flow of a value that is computed from another one and all in it.
func (f *Flow) Computed() *Flow {
	origins := f.all(nil)
	if len(origins) == 0 {
		return nil
	}
	for i := range origins {
		origins[i].derived = true
	}
	return &Flow{origins: origins}
}

// all returns the origins of a value and all in it.
func (f *Flow) all(out []origin) []origin {
	if f == nil {
		return out
	}
	for _, o := range f.origins {
		if !contains(out, o) {
			out = append(out, o)
		}
	}
	return f.key.all(f.elem.all(out))
}

// keys returns the flow of the keys of a map. Those of a map that is a part of an object
// come from that part.
func (f *Flow) keys() *Flow {
	if f == nil {
		return nil
	}
	return union(f.key, (&Flow{origins: f.origins}).Computed())
}

// Parts returns the parts of objects that a value and all in it come from. of returns the
// type of a root, or nil if it is unknown.
func (f *Flow) Parts(of func(Root) *schema.Type) (out []Part) {
	for _, o := range f.all(nil) {
		part := Part{o.root, fieldsOf(o.path, of(o.root))}
		same := func(p Part) bool { return p.Root == part.Root && slices.Equal(p.Path, part.Path) }
		if !slices.ContainsFunc(out, same) {
			out = append(out, part)
		}
	}
	return out
}

// Part is a part of an object: the path of a field, without the items of lists that it
// goes through. It ends at a map and at a field of unknown type.
type Part struct {
	Root Root
	Path []string
}

// fieldsOf returns the names of fields of a path in a type.
func fieldsOf(path []step, t *schema.Type) (out []string) {
	for _, s := range path {
		switch {
		case !s.each:
			out = append(out, s.field)
			t = t.Field(s.field)
		case t == nil || t.Kind != schema.List:
			return out
		default:
			t = t.Elem
		}
	}
	return out
}

// Reads says which parts of which roots are read.
type Reads map[Root]*value.Mask

// Merge adds what others read.
func (r Reads) Merge(others Reads) {
	for root, mask := range others {
		r[root] = value.Merge(r[root], mask)
	}
}

// Consume records that the whole of a value is read.
func (r Reads) Consume(f *Flow) {
	if f == nil {
		return
	}
	for _, o := range f.origins {
		r.mark(o, value.KeepAll)
	}
	r.Consume(f.elem)
}

// Presence records that only the presence of a value, or the number of its
// items, is read.
func (r Reads) Presence(f *Flow) {
	if f == nil {
		return
	}
	for _, o := range f.origins {
		r.mark(o, &value.Mask{})
	}
}

// keys records that the keys of a map are read.
func (r Reads) keys(f *Flow) {
	if f == nil {
		return
	}
	for _, o := range f.origins {
		r.mark(o, &value.Mask{Each: &value.Mask{}})
	}
}

func (r Reads) mark(o origin, leaf *value.Mask) {
	mask := leaf
	for _, s := range slices.Backward(o.path) {
		if s.each {
			mask = &value.Mask{Each: mask}
		} else {
			mask = &value.Mask{Fields: map[string]*value.Mask{s.field: mask}}
		}
	}
	r[o.root] = value.Merge(r[o.root], mask)
}

// Add records that parts of a root are read.
func (r Reads) Add(root Root, mask *value.Mask) { r[root] = value.Merge(r[root], mask) }

// Roots returns the roots that the value may be the whole of. ok is false when
// it may also be something else.
func (f *Flow) Roots() (roots []Root, ok bool) {
	if f == nil || f.elem != nil {
		return nil, false
	}
	for _, o := range f.origins {
		if len(o.path) > 0 {
			return nil, false
		}
		roots = append(roots, o.root)
	}
	return roots, len(roots) > 0
}

package analyze

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Form is what the text says of the keys that a value has. A nil Form is a value of
// which it says nothing. Unlike a Flow, which says what a value may be, it says what the
// value can only be: a key that a form does not have is never there.
type Form struct {
	kind formKind
	// keys are those of a mapping, each with what its value is.
	keys map[string]*Form
	// elem is what the items of a list, or the values of a map of any keys, are.
	elem *Form
}

type formKind int

const (
	// nothing is no value at all: null, or an item of an empty list.
	nothing formKind = iota
	mapping
	list
	anyKeys
)

// none is the form of no value.
var none = &Form{}

// ListForm is the form of a list of items of a form.
func ListForm(item *Form) *Form { return &Form{kind: list, elem: item} }

// MapForm is the form of a map of any keys, with values of a form.
func MapForm(elem *Form) *Form { return &Form{kind: anyKeys, elem: elem} }

// Item returns the form of an item of a list.
func (f *Form) Item() *Form {
	if f == nil || f.kind == mapping {
		return nil
	}
	if f.kind == nothing {
		return none
	}
	return f.elem
}

// field returns the form of what a key gives, and whether the key may be there at all.
func (f *Form) field(key string) (form *Form, known bool) {
	if f == nil || f.kind != mapping {
		return f.Item(), true
	}
	form, known = f.keys[key]
	if !known {
		form = none
	}
	return form, known
}

// maxJoined is how many keys are looked at to say what several values have in common: a
// short text may stand for many. Of what has more, nothing is known.
const maxJoined = 1000

// either returns the form of a value that is one of several.
func either(forms ...*Form) *Form {
	j, out := joining{left: maxJoined}, none
	for _, f := range forms {
		out = j.either(out, f)
	}
	return out
}

type joining struct{ left int }

func (j *joining) either(a, b *Form) *Form {
	switch {
	case a == nil || b == nil:
		return nil
	case a == b || b.kind == nothing:
		return a
	case a.kind == nothing:
		return b
	case a.kind != b.kind:
		return nil
	case a.kind == mapping:
		return j.mappings(a, b)
	}
	return &Form{kind: a.kind, elem: j.either(a.elem, b.elem)}
}

func (j *joining) mappings(a, b *Form) *Form {
	if j.left -= len(a.keys) + len(b.keys); j.left < 0 {
		return nil
	}
	out := &Form{kind: mapping, keys: maps.Clone(a.keys)}
	for key, f := range b.keys {
		if other, both := out.keys[key]; both {
			f = j.either(other, f)
		}
		out.keys[key] = f
	}
	return out
}

// EachField visits the paths of the literal keys, parents first, at most maxJoined of them. A
// leaf has no keys below it.
func (f *Form) EachField(visit func(path []string, leaf bool)) {
	left := maxJoined
	f.fields(nil, &left, visit)
}

func (f *Form) fields(above []string, left *int, visit func(path []string, leaf bool)) {
	f = f.entries()
	for _, key := range slices.Sorted(maps.Keys(f.keys)) {
		if *left--; *left < 0 {
			return
		}
		at := append(above[:len(above):len(above)], key)
		visit(at, len(f.keys[key].entries().keys) == 0)
		f.keys[key].fields(at, left, visit)
	}
}

// entries returns the form of the items of a list, else the form itself, none for nil.
func (f *Form) entries() *Form {
	for f != nil && f.kind == list {
		f = f.elem
	}
	if f == nil {
		return none
	}
	return f
}

// TemplateForm returns the form of a template's value. names returns that of a name.
func TemplateForm(t *cel.Template, names func(name string) *Form) *Form {
	switch {
	case t == nil:
		return nil
	case t.Program() != nil:
		form, _ := FormOf(t.Program(), names)
		return form
	case t.IsList():
		items := make([]*Form, t.Len())
		for i := range items {
			items[i] = TemplateForm(t.Item(i), names)
		}
		return ListForm(either(items...))
	case t.IsMapping():
		return mappingForm(t, names)
	}
	return nil
}

// mappingForm is TemplateForm for a mapping; of one with a key that is computed, such as
// from a param, nothing is known.
func mappingForm(t *cel.Template, names func(name string) *Form) *Form {
	out := &Form{kind: mapping, keys: map[string]*Form{}}
	for i := range t.Len() {
		key, ok := t.Key(i)
		if !ok {
			return nil
		}
		out.keys[key] = TemplateForm(t.Item(i), names)
	}
	return out
}

package guard

import "github.com/edict-dev/edict/engine/value"

// fieldTree are the fields of a patch that were visited. Lists have no part in paths:
// the fields of all items of a list are the same ones.
type fieldTree struct {
	name   string
	parent *fieldTree
	// inner and leaf are whether it was visited with fields below it, and without.
	inner, leaf bool
	fields      []*fieldTree
	// byName finds the fields when they are many.
	byName map[string]*fieldTree
}

// manyFields is from how many fields on a map finds them faster.
const manyFields = 32

// walk visits the path of every field of a patch, through lists too, but none twice
// that is the same: a list of many items has no more fields than its items together.
// A leaf is a field with nothing below. The path belongs to the caller.
func (t *fieldTree) walk(v value.Value, visit func(path []string, leaf bool)) {
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			name, field := v.At(i)
			below, leaf := t.field(name, i), !hasFields(field)
			if seen := below.seen(leaf); !*seen {
				*seen = true
				visit(below.path(0), leaf)
			}
			if !leaf {
				below.walk(field, visit)
			}
		}
	case *value.List:
		for _, item := range v.Items() {
			t.walk(item, visit)
		}
	}
}

// field returns the field of a name. guess is where it is looked for first.
func (t *fieldTree) field(name string, guess int) *fieldTree {
	if guess < len(t.fields) && t.fields[guess].name == name {
		return t.fields[guess]
	}
	if known := t.find(name); known != nil {
		return known
	}
	fresh := &fieldTree{name: name, parent: t}
	t.fields = append(t.fields, fresh)
	if len(t.fields) == manyFields {
		t.byName = make(map[string]*fieldTree, 2*manyFields)
		for _, known := range t.fields {
			t.byName[known.name] = known
		}
	}
	if t.byName != nil {
		t.byName[name] = fresh
	}
	return fresh
}

// find returns the field of a name; nil for none.
func (t *fieldTree) find(name string) *fieldTree {
	if t.byName != nil {
		return t.byName[name]
	}
	for _, known := range t.fields {
		if known.name == name {
			return known
		}
	}
	return nil
}

func (t *fieldTree) seen(leaf bool) *bool {
	if leaf {
		return &t.leaf
	}
	return &t.inner
}

// path returns the names down to a field, with room for so many more.
func (t *fieldTree) path(more int) []string {
	if t.parent == nil {
		return make([]string, 0, more)
	}
	return append(t.parent.path(more+1), t.name)
}

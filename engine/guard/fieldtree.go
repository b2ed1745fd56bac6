package guard

import "github.com/edict-dev/edict/engine/value"

// fieldTree are the fields of a patch that were visited. Lists have no part in paths:
// the fields of all items of a list are the same ones.
type fieldTree struct {
	name   string
	parent *fieldTree
	// visited are the forms in which it was visited.
	visited [forms]bool
	fields  []*fieldTree
	// byName finds the fields when they are many.
	byName map[string]*fieldTree
}

// form is what a patch has at a field.
type form int

const (
	// inner is that there are fields below.
	inner form = iota
	// leaf is that nothing is known below: there is another value than fields, or one that
	// is computed.
	leaf
	// removed is null: the field goes, with all below it.
	removed
	// forms is how many there are.
	forms
)

// formOf returns the form of a value.
func formOf(v value.Value) form {
	switch {
	case v == value.Null:
		return removed
	case hasFields(v):
		return inner
	default:
		return leaf
	}
}

// manyFields is from how many fields on a map finds them faster.
const manyFields = 32

// walk visits the path of every field of a patch, through lists too, but none twice
// that is the same: a list of many items has no more fields than its items together.
// The path belongs to the caller.
func (t *fieldTree) walk(v value.Value, visit func(path []string, f form)) {
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			name, field := v.At(i)
			below, f := t.field(name, i), formOf(field)
			if !below.visited[f] {
				below.visited[f] = true
				visit(below.path(0), f)
			}
			if f == inner {
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

// path returns the names down to a field, with room for so many more.
func (t *fieldTree) path(more int) []string {
	if t.parent == nil {
		return make([]string, 0, more)
	}
	return append(t.parent.path(more+1), t.name)
}

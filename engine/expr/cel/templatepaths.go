package cel

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// Mask says which fields a mapping names: what a merge of it touches. A
// computed key touches all of its siblings.
func (t *Template) Mask() *value.Mask {
	if t.kind != document.Map || len(t.entries.keys) == 0 {
		return value.KeepAll
	}
	mask := &value.Mask{Fields: map[string]*value.Mask{}}
	for i, k := range t.entries.keys {
		name, ok := value.Str(k.constant)
		if !ok {
			return value.KeepAll
		}
		mask.Fields[name] = t.entries.values[i].Mask()
	}
	return mask
}

// Paths returns the paths of the fields that a mapping names, down to those that
// are not mappings themselves.
func (t *Template) Paths() [][]string {
	if t.kind != document.Map || len(t.entries.keys) == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i, k := range t.entries.keys {
		name, _ := value.Str(k.constant)
		for _, rest := range t.entries.values[i].Paths() {
			out = append(out, append([]string{name}, rest...))
		}
	}
	return out
}

// EachField visits the path of every field whose name the template writes out.
// A leaf is one below which no field is written out: it has a scalar, nothing, or
// what an expression gives.
func (t *Template) EachField(visit func(path []string, leaf bool)) {
	pathVisitor(func(path []string, leaf, _ bool) { visit(path, leaf) }).template(t, nil)
}

// EachNull visits the path of every field whose name the template writes out, with null.
func (t *Template) EachNull(visit func(path []string)) {
	nulls := pathVisitor(func(path []string, _, null bool) {
		if null {
			visit(path)
		}
	})
	nulls.template(t, nil)
}

// EachComputed visits the path of every field whose name or value is computed, with the text
// of the expression in place of the name. Fields is the expression that gives fields below
// the path without that; nil is that only the name is computed.
func (t *Template) EachComputed(visit func(path []string, fields *Program)) { t.computed(nil, visit) }

func (t *Template) computed(above []string, visit func(path []string, fields *Program)) {
	switch {
	case t == nil || t.constant != nil:
		return
	case t.program != nil:
		visit(append(above[:len(above):len(above)], t.Text()), t.program)
	}
	for i, v := range t.entries.values {
		at := above
		if t.kind == document.Map {
			key := t.entries.keys[i]
			name, known := value.Str(key.constant)
			if !known {
				name = key.Text()
			}
			if at = append(above[:len(above):len(above)], name); !known {
				visit(at, nil)
				continue
			}
		}
		v.computed(at, visit)
	}
}

// pathVisitor is told of a field whose name is written out, and whether it is a leaf and
// null.
type pathVisitor func(path []string, leaf, null bool)

// template visits the fields of a template that stands at a path.
func (visit pathVisitor) template(t *Template, above []string) {
	if t == nil {
		return
	}
	if t.constant != nil {
		visit.constant(t.constant, above)
		return
	}
	for i, v := range t.entries.values {
		at := above
		if t.kind == document.Map {
			name, ok := value.Str(t.entries.keys[i].constant)
			if !ok {
				continue
			}
			at = append(above[:len(above):len(above)], name)
			visit(at, !hasFields(v), v.constant == value.Null)
		}
		visit.template(v, at)
	}
}

func (visit pathVisitor) constant(v value.Value, above []string) {
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			name, field := v.At(i)
			at := append(above[:len(above):len(above)], name)
			below := false
			pathVisitor(func([]string, bool, bool) { below = true }).constant(field, nil)
			visit(at, !below, field == value.Null)
			visit.constant(field, at)
		}
	case *value.List:
		for _, item := range v.Items() {
			visit.constant(item, above)
		}
	}
}

// hasFields reports whether fields are written out in a template.
func hasFields(t *Template) bool {
	found := false
	pathVisitor(func([]string, bool, bool) { found = true }).template(t, nil)
	return found
}

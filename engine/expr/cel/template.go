package cel

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// Template is compiled YAML with ${expression} in it. It is immutable.
type Template struct {
	at document.Position
	// One of these forms:
	constant value.Value // no expression anywhere inside
	program  *Program    // all of it is one ${expression}
	parts    parts       // a text with expressions in it
	entries  entries     // a mapping or a list
	kind     document.Kind
	// asText says that it is written to a field of texts.
	asText bool
	// unsettled is why the value could not be computed from constants.
	unsettled error
}

// Unsettled returns why a template that uses constants only is none; nil when
// it is one, or uses others.
func (t *Template) Unsettled() error { return t.unsettled }

// Pos returns the template's place.
func (t *Template) Pos() document.Position { return t.at }

// Program returns the program of a template that is one expression, else nil.
func (t *Template) Program() *Program {
	if t == nil {
		return nil
	}
	return t.program
}

// Constant returns the value of a template without expressions, else nil.
func (t *Template) Constant() value.Value { return t.constant }

// Text returns a text as it is written, and "" of anything else.
func (t *Template) Text() string {
	if t == nil {
		return ""
	}
	if t.parts != nil {
		return t.parts.source()
	}
	literal, _ := value.Str(t.constant)
	return parts{{literal: literal, program: t.program}}.source()
}

// Mapping returns the template as a mapping whose fields are all written out; it has
// no fields if the template is no such, or a constant.
func (t *Template) Mapping() Mapping {
	if t == nil || t.constant != nil || t.entries.names == nil {
		return Mapping{}
	}
	return Mapping{&t.entries}
}

// Field returns the template of a field of a mapping; nil when it has none.
func (t *Template) Field(name string) *Template {
	if t == nil {
		return nil
	}
	return t.entries.field(name)
}

// IsList reports whether the template is written as a list, item by item, also if it is a
// constant.
func (t *Template) IsList() bool { return t.kind == document.List }

// IsMapping is IsList for a mapping.
func (t *Template) IsMapping() bool { return t.kind == document.Map }

// Key returns the name of a field of a mapping; false if an expression computes it, also
// one that uses constants only.
func (t *Template) Key(i int) (string, bool) {
	k := t.entries.keys[i]
	if k.program != nil || k.parts != nil {
		return "", false
	}
	return value.Str(k.constant)
}

// KeyTemplate returns the template of a key of a mapping that is written out; nil for an
// item of a list.
func (t *Template) KeyTemplate(i int) *Template {
	if i >= len(t.entries.keys) {
		return nil
	}
	return t.entries.keys[i]
}

// Len is the number of items of a list, or fields of a mapping, that are written
// out.
func (t *Template) Len() int { return len(t.entries.values) }

// Item returns the template of an item of a list that is written out.
func (t *Template) Item(i int) *Template { return t.entries.values[i] }

// Walk visits every program of the template.
func (t *Template) Walk(visit func(*Program)) {
	if t == nil {
		return
	}
	if t.program != nil {
		visit(t.program)
	}
	for _, p := range t.parts {
		if p.program != nil {
			visit(p.program)
		}
	}
	for _, k := range t.entries.keys {
		k.Walk(visit)
	}
	for _, v := range t.entries.values {
		v.Walk(visit)
	}
}

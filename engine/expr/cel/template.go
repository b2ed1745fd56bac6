package cel

import (
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
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

// Template compiles YAML in which ${expression} stands for a value.
func (e *Env) Template(n *document.Node, problems *document.Problems) *Template {
	if n == nil {
		return nil
	}
	t := &Template{at: n.Pos, kind: n.Kind}
	switch n.Kind {
	case document.Map:
		for i, key := range n.Keys {
			t.entries.keys = append(t.entries.keys, e.Template(key, problems))
			t.entries.values = append(t.entries.values, e.Template(n.Values[i], problems))
		}
		t.entries.names = t.entries.keyNames()
	case document.List:
		for _, item := range n.Values {
			t.entries.values = append(t.entries.values, e.Template(item, problems))
		}
	case document.String:
		e.text(t, n, problems)
	default:
		t.constant = value.Freeze(n.Plain(), nil, value.KeepAll)
	}
	return t.fold()
}

// fold makes a constant of a list or mapping without expressions.
func (t *Template) fold() *Template {
	if t.kind != document.Map && t.kind != document.List {
		return t
	}
	for i, v := range t.entries.values {
		if v.constant == nil || t.kind == document.Map && t.entries.keys[i].constant == nil {
			return t
		}
	}
	if v, err := t.build(nil, nil); err == nil {
		t.constant = v
	}
	return t
}

// text splits a string into literal pieces and expressions.
func (e *Env) text(t *Template, n *document.Node, problems *document.Problems) {
	pieces, ok := piecesOf(n)
	if !ok {
		problems.Hintf(n.Pos, "$${ writes a literal ${", "a ${ has no matching }")
		t.constant = value.OfString("")
		return
	}
	literal := ""
	for _, piece := range pieces {
		if !piece.code {
			literal += piece.text
			t.parts = append(t.parts, part{literal: piece.text})
			continue
		}
		p := e.Compile(Text{Node: piece.node, Source: piece.text, Offset: piece.offset}, problems)
		t.parts = append(t.parts, part{program: p})
		if p != nil && len(pieces) > 1 {
			inText(p, problems)
		}
	}
	if len(pieces) == 1 && pieces[0].code {
		t.program, t.parts = t.parts[0].program, nil
		if t.program == nil {
			t.constant = value.Null
			return
		}
	}
	if !hasCode(pieces) {
		looksLikeCode(n, problems)
		t.constant, t.parts = value.OfString(literal), nil
		return
	}
	t.settle(e)
}

// settle makes a constant of a text whose expressions use constants only.
func (t *Template) settle(e *Env) {
	constant := true
	t.Walk(func(p *Program) {
		for name := range p.Names() {
			constant = constant && e.consts[name] != nil
		}
	})
	for _, p := range t.parts {
		constant = constant && (p.program != nil || p.literal != "")
	}
	if !constant {
		return
	}
	budget := e.budget
	if budget == nil {
		budget = NewBudget()
		defer budget.Close()
	}
	v, err := t.build(constScope(e.consts), budget.Meter)
	if err == nil && v != nil {
		t.constant = v
	}
	t.unsettled = err
}

// Unsettled returns why a template that uses constants only is none; nil when
// it is one, or uses others.
func (t *Template) Unsettled() error { return t.unsettled }

// constScope resolves constants only.
type constScope map[string]value.Value

// ResolveName implements expr.Scope.
func (s constScope) ResolveName(name string) (any, bool) {
	v, ok := s[name]
	return v, ok
}

// Parent implements expr.Scope.
func (s constScope) Parent() interpreter.Activation { return nil }

// ConstScope is a scope of constants, for what is computed when a policy is
// compiled.
func ConstScope(consts map[string]value.Value) expr.Scope { return constScope(consts) }

// Pos returns the template's place.
func (t *Template) Pos() document.Position { return t.at }

// Program returns the program of a template that is one expression, else nil.
func (t *Template) Program() *Program { return t.program }

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

// Field returns the template of a field of a mapping; nil when it has none.
func (t *Template) Field(name string) *Template {
	if t == nil {
		return nil
	}
	return t.entries.field(name)
}

// EachField visits the path of every field whose name the template writes out.
// A leaf is one below which no field is written out: it has a scalar, nothing, or
// what an expression gives.
func (t *Template) EachField(visit func(path []string, leaf bool)) {
	t.paths(nil, func(path []string, leaf, _ bool) { visit(path, leaf) })
}

// EachNull visits the path of every field whose name the template writes out, with null.
func (t *Template) EachNull(visit func(path []string)) {
	t.paths(nil, func(path []string, _, null bool) {
		if null {
			visit(path)
		}
	})
}

// visitor is told of a field whose name is written out, and whether it is a leaf and null.
type visitor func(path []string, leaf, null bool)

func (t *Template) paths(above []string, visit visitor) {
	if t == nil {
		return
	}
	if t.constant != nil {
		constantPaths(t.constant, above, visit)
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
			visit(at, !v.hasFields(), v.constant == value.Null)
		}
		v.paths(at, visit)
	}
}

// hasFields reports whether fields are written out in the template.
func (t *Template) hasFields() bool {
	found := false
	t.paths(nil, func([]string, bool, bool) { found = true })
	return found
}

func constantPaths(v value.Value, above []string, visit visitor) {
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			name, field := v.At(i)
			at := append(above[:len(above):len(above)], name)
			below := false
			constantPaths(field, nil, func([]string, bool, bool) { below = true })
			visit(at, !below, field == value.Null)
			constantPaths(field, at, visit)
		}
	case *value.List:
		for _, item := range v.Items() {
			constantPaths(item, above, visit)
		}
	}
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

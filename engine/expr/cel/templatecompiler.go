package cel

import (
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// Template compiles YAML in which ${expression} stands for a value.
func (e *Env) Template(n *document.Node, problems *document.Problems) *Template {
	return (&templateCompiler{env: e, problems: problems}).template(n)
}

// templateCompiler compiles templates in an environment.
type templateCompiler struct {
	env      *Env
	problems *document.Problems
}

func (c *templateCompiler) template(n *document.Node) *Template {
	if n == nil {
		return nil
	}
	t := &Template{at: n.Pos, kind: n.Kind}
	switch n.Kind {
	case document.Map:
		for i, key := range n.Keys {
			t.entries.keys = append(t.entries.keys, c.template(key))
			t.entries.values = append(t.entries.values, c.template(n.Values[i]))
		}
		t.entries.names = t.entries.keyNames()
	case document.List:
		for _, item := range n.Values {
			t.entries.values = append(t.entries.values, c.template(item))
		}
	case document.String:
		c.text(t, n)
	default:
		t.constant = value.Freeze(n.Plain(), nil, value.KeepAll)
	}
	foldEntries(t)
	return t
}

// foldEntries makes a constant of a list or mapping without expressions.
func foldEntries(t *Template) {
	if t.kind != document.Map && t.kind != document.List {
		return
	}
	for i, v := range t.entries.values {
		if v.constant == nil || t.kind == document.Map && t.entries.keys[i].constant == nil {
			return
		}
	}
	if v, err := t.build(nil, nil); err == nil {
		t.constant = v
	}
}

// text splits a string into literal pieces and expressions.
func (c *templateCompiler) text(t *Template, n *document.Node) {
	pieces, ok := piecesOf(n)
	if !ok {
		c.problems.Hintf(n.Pos, "$${ writes a literal ${", "a ${ has no matching }")
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
		p := c.env.Compile(Text{Node: piece.node, Source: piece.text, Offset: piece.offset}, c.problems)
		t.parts = append(t.parts, part{program: p})
		if p != nil && len(pieces) > 1 {
			inText(p, c.problems)
		}
	}
	if len(pieces) == 1 && pieces[0].code {
		t.program, t.parts = t.parts[0].program, nil
		if t.program == nil {
			t.constant = value.Null
			return
		}
	}
	if !slices.ContainsFunc(pieces, func(p piece) bool { return p.code }) {
		looksLikeCode(n, c.problems)
		t.constant, t.parts = value.OfString(literal), nil
		return
	}
	c.settle(t)
}

// settle makes a constant of a text whose expressions use constants only.
func (c *templateCompiler) settle(t *Template) {
	e := c.env
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

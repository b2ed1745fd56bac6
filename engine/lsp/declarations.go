package lsp

import (
	"context"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// declaration is where a name of a policy is declared.
type declaration struct {
	// full is the name as expressions write it, what says what it is.
	full, what string
	name       *document.Node
	local      bool
	// scope is the value whose expressions may use a local name, but for one.
	scope, except *document.Node
}

// declarations returns those of a policy: first the names of the policy, then those of
// rules and collections.
func declarations(p *v1alpha1.Policy) (out []declaration) {
	add := func(qualifier, what string, name v1alpha1.Text) {
		if name.Set() {
			out = append(out, declaration{full: qualifier + "." + name.Value, what: what, name: name.Node})
		}
	}
	for _, e := range p.Spec.Params {
		add(cel.QualifyParams, "a param", e.Key)
	}
	for _, i := range p.Spec.Inputs {
		add(cel.QualifyInputs, "an input of "+kindOf(&i), i.Name)
	}
	for _, c := range p.Spec.Children {
		add(cel.QualifyChildren, "children", c.Name)
	}
	for _, v := range p.Spec.Variables {
		add(cel.QualifyVariables, "a variable", v.Name)
	}
	return append(out, locals(p)...)
}

// locals returns the variables and items of rules, children, collections and
// selections.
func locals(p *v1alpha1.Policy) (out []declaration) {
	places := sites(p.Node)
	add := func(what string, name v1alpha1.Text) {
		if !name.Set() {
			return
		}
		d := declaration{full: name.Value, what: what, name: name.Node, local: true}
		if s, ok := places[name.Node.Pos]; ok {
			d.scope, d.except = scopeOf(s)
		}
		out = append(out, d)
	}
	var variables func(list []v1alpha1.Variable)
	variables = func(list []v1alpha1.Variable) {
		for _, v := range list {
			add("an item of "+v.Name.Value, v.As)
			for _, own := range v.Variables {
				add("a variable of "+v.Name.Value, own.Name)
			}
			variables(v.Variables)
		}
	}
	variables(p.Spec.Variables)
	for _, r := range p.Spec.Rules {
		add("an item of the rule "+r.Name.Value, r.As)
		for _, v := range r.Variables {
			add("a variable of the rule "+r.Name.Value, v.Name)
		}
		variables(r.Variables)
	}
	for _, c := range p.Spec.Children {
		add("an item of "+c.Name.Value, c.As)
		for _, v := range c.Variables {
			add("a variable of "+c.Name.Value, v.Name)
		}
	}
	for _, s := range places {
		if s.field == "as" && s.around[len(s.around)-1].Get("in") != nil {
			add("a candidate", v1alpha1.Text{Node: s.node, Value: s.node.Text})
		}
	}
	return out
}

// declaration returns where a name is declared that is used at a place; nil when it is
// not one of the policy.
func (a *analysis) declaration(full string, at document.Position) *declaration {
	u := a.unitAt(at)
	if u == nil {
		return nil
	}
	for _, d := range declarations(u.Document) {
		if d.full == full && !d.local {
			return &d
		}
	}
	if s, found := a.siteAt(at); found {
		return a.owner(full, s)
	}
	return nil
}

// named returns the declaration of the name at a place: where it is used, or where it
// is declared.
func (a *analysis) named(p document.Position) *declaration {
	u := a.unitAt(p)
	if u == nil {
		return nil
	}
	for _, d := range declarations(u.Document) {
		if offset, inside := offsetIn(d.name, p); inside && offset <= len([]rune(d.name.Text)) {
			return &d
		}
	}
	c := a.cursorAt(p)
	if c == nil {
		return nil
	}
	operand, _ := c.operand()
	return a.declaration(operand, c.node.Pos)
}

func (s *Server) definition(_ context.Context, p at) (any, error) {
	a, err := s.analysis(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	place := a.text.place(p.Position)
	if l := a.loopAt(place); l != nil {
		return l, nil
	}
	d := a.named(place)
	if d == nil {
		return nil, nil
	}
	return Location{a.text.uri, a.text.until(d.name.At(0), len([]rune(d.name.Text)))}, nil
}

// loopAt returns where the name at a place is declared by a macro, such as x in
// items.filter(x, x.ready); nil if none is.
func (a *analysis) loopAt(p document.Position) *Location {
	c := a.cursorAt(p)
	if c == nil {
		return nil
	}
	list, err := cel.Uses(c.text)
	if err != nil {
		return nil
	}
	for _, u := range list {
		if length := len([]rune(u.Name)); u.Declared != cel.Outside && c.offset >= u.Start && c.offset <= u.Start+length {
			return &Location{a.text.uri, a.text.until(c.node.At(c.start+u.Declared), length)}
		}
	}
	return nil
}

// kindOf names the kind of an input, or its kinds.
func kindOf(in *v1alpha1.Input) string {
	if len(in.Kinds) == 0 {
		return "the kind " + in.Kind.Value
	}
	names := make([]string, len(in.Kinds))
	for i, kind := range in.Kinds {
		names[i] = kind.Kind.Value
	}
	return "the kinds " + strings.Join(names, ", ")
}

package check

import (
	"maps"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// mention is what a part of an expression says of fields: asked are those that it
// asks for, read are those that it takes, so that it fails where they are absent.
type mention struct{ asked, read keys }

func (m mention) all() keys { return m.asked.with(m.read) }

func (m mention) with(others ...mention) mention {
	out := mention{m.asked.with(), m.read.with()}
	for _, other := range others {
		out.asked, out.read = out.asked.with(other.asked), out.read.with(other.read)
	}
	return out
}

// mentions knows what expressions say of fields, also through variables and inputs.
type mentions struct {
	policy *plan.Policy
	// named are what the names of a policy say.
	named map[string]mention
	// defaults are what variables are that read a field with a default.
	defaults map[string]ast.Expr
}

func newMentions(p *plan.Policy) *mentions {
	m := &mentions{policy: p, named: map[string]mention{}, defaults: map[string]ast.Expr{}}
	for _, in := range p.Inputs {
		// An object of which what they read is absent is not among those of the input; one
		// that orderBy cannot read is, at the end.
		asked := m.programs(in.Where, in.Key, in.Get)
		m.named[analyze.InputRef(in.Name).String()] = mention{asked, keys{}}
	}
	for _, v := range p.Variables { // those that it uses come first
		m.add(analyze.VariableRef(v.Name).String(), v)
	}
	return m
}

// with returns the mentions that know the variables of a rule or a collection, too.
func (m *mentions) with(locals []*plan.Variable) *mentions {
	out := &mentions{policy: m.policy, named: maps.Clone(m.named), defaults: maps.Clone(m.defaults)}
	for _, v := range locals {
		out.add(v.Name, v)
	}
	return out
}

// add adds what a variable says, by its name in expressions.
func (m *mentions) add(name string, v *plan.Variable) {
	m.named[name] = m.variable(v)
	delete(m.defaults, name)
	if v.Program != nil {
		if value, ok := m.defaultOf(v.Program.Tree().Expr()); ok {
			m.defaults[name] = value
		}
	}
}

func (m *mentions) variable(v *plan.Variable) mention {
	out := m.each(v.Program, v.When).with(m.template(v.Value))
	if c := v.Collection; c != nil {
		inner := m.with(c.Locals)
		out = out.with(inner.each(append([]*cel.Program{c.ForEach, c.When, c.Key}, c.OrderBy...)...), inner.template(c.Value))
		for _, l := range c.Locals {
			out = out.with(inner.named[l.Name])
		}
	}
	return out
}

func (m *mentions) template(t *cel.Template) mention {
	out := mention{}
	t.Walk(func(p *cel.Program) { out = out.with(m.each(p)) })
	return out
}

// programs returns all that expressions say.
func (m *mentions) programs(list ...*cel.Program) keys { return m.each(list...).all() }

// each returns what expressions say, one beside the other.
func (m *mentions) each(list ...*cel.Program) mention {
	out := mention{}
	for _, p := range list {
		if p != nil {
			out = out.with(m.of(fieldsOf(p), p.Tree().Expr()))
		}
	}
	return out
}

// of returns what an expression says.
func (m *mentions) of(f fields, e ast.Expr) mention {
	out := mention{keys{}, keys{}}
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			maps.Copy(out.asked, m.named[e.AsIdent()].asked)
			maps.Copy(out.read, m.named[e.AsIdent()].read)
		}
		if with, ok := compared(e); ok {
			if with.Kind() == ast.IdentKind {
				out.asked[nothing(with.AsIdent())] = true
			} else if key := f.keyOf(with); key != "" {
				out.asked[key] = true
			}
		}
		if a, ok := f.accessOf(e); ok {
			into := out.read
			if a.asks {
				into = out.asked
			}
			if key := f.key(a); key != "" {
				into[key] = true
			}
			if a.of.Kind() == ast.IdentKind {
				into[nothing(a.of.AsIdent())] = true
			}
		}
	}))
	return out
}

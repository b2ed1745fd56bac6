package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// program compiles an expression whose whole result is used; nil when the field
// is absent or wrong.
func (s *scope) program(text v1alpha1.Text) *cel.Program {
	p, flow := s.alias(text)
	if p != nil {
		s.node.Reads.Consume(flow)
	}
	return p
}

// order compiles expressions that say in which order things are.
func (s *scope) order(texts []v1alpha1.Text) (out []*cel.Program) {
	for _, t := range texts {
		p := s.program(t)
		if p != nil && !cel.HasOrder(p.Type()) {
			s.problems.Hintf(t.Pos(), "order by numbers, texts, booleans, times, durations, quantities, versions or IP addresses", "this gives %s, of which none comes before another", cel.TypeName(p.Type()))
		}
		out = append(out, p)
	}
	return out
}

// typed is program for an expression that must be of one of some types.
func (s *scope) typed(text v1alpha1.Text, want ...*cel.Type) *cel.Program {
	p := s.program(text)
	wantType(p, text, s.problems, want...)
	return p
}

// alias compiles an expression whose result is handed on: what is read of it is
// for its users to say.
func (s *scope) alias(text v1alpha1.Text) (*cel.Program, *analyze.Flow) {
	if !text.Set() {
		return nil, nil
	}
	s.see(text.Node)
	p := s.env.Compile(cel.Whole(text), &s.problems.Problems)
	if p == nil {
		return nil, nil
	}
	flow := s.trace(p)
	s.names.lacking(p, s.form)
	if p.Names()[analyze.Now.Name] {
		s.problems.Hintf(text.Pos(), "elapsed(since, period) and grace.holds(since, period) compare with the time and say when the answer changes",
			"now may only be written into templates")
	}
	return p, flow
}

// see tells who wants to know of an expression and its names.
func (s *scope) see(n *document.Node) {
	if s.names.seen != nil {
		s.names.seen(n, s.env)
	}
}

// list is alias for a list whose items are used one by one; nil when it is none.
func (s *scope) list(text v1alpha1.Text, field string) (*cel.Program, *analyze.Flow) {
	p, flow := s.alias(text)
	if p == nil {
		return nil, nil
	}
	s.node.Reads.Presence(flow)
	if !cel.IsList(p.Type()) && !cel.IsDyn(p.Type()) {
		s.problems.Hintf(text.Pos(), listHint(p.Type()), "%s needs a list, this gives %s", field, cel.TypeName(p.Type()))
		return nil, nil
	}
	return p, flow
}

// trace records what a program depends on, and returns where its result comes
// from.
func (s *scope) trace(p *cel.Program) *analyze.Flow {
	flow, reads := analyze.Trace(p, s.flow)
	s.node.Reads.Merge(reads)
	s.node.Calls(p)
	for name := range p.Names() {
		s.node.Use(s.nodeOf(name))
	}
	s.names.trees.add(p)
	return flow
}

// template compiles a template, all of whose values are used; nil when the field
// is absent.
func (s *scope) template(t v1alpha1.Template) *cel.Template { return s.templateNode(t.Node) }

func (s *scope) templateNode(n *document.Node) *cel.Template {
	compiled := s.handedOn(n)
	if p := compiled.Program(); p != nil {
		s.node.Reads.Consume(s.trace(p))
	}
	return compiled
}

// handedOn compiles a template without recording its value as read: if it is a single
// expression, only the parts that its users read are recorded. It returns nil if the field is
// absent.
func (s *scope) handedOn(n *document.Node) *cel.Template {
	if n == nil {
		return nil
	}
	s.see(n)
	compiled := s.env.Template(n, &s.problems.Problems)
	single := compiled.Program()
	compiled.Walk(func(p *cel.Program) {
		if flow := s.trace(p); p != single {
			s.node.Reads.Consume(flow)
		}
		s.names.lacking(p, s.form)
		if p.Names()[analyze.Now.Name] && analyze.Compares(p) {
			s.problems.Hintf(p.Pos(), "use elapsed(since, period) or grace.holds(since, period)", "now cannot be compared, nor subtracted from: when that would give another result is not known")
		}
	})
	return compiled
}

package compile

import (
	"maps"
	"regexp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// scope is where an expression is: the names that it may use beyond those of the
// policy, where their values come from, and the node that depends on what the
// expression reads and uses. No expression is compiled without one, so that no
// dependency is lost.
type scope struct {
	env   *cel.Env
	flows map[string]*analyze.Flow
	nodes map[string]*analyze.Node
	node  *analyze.Node
}

// global returns the scope of an expression that uses names of the policy only.
func (b *builder) global(n *analyze.Node) *scope { return &scope{env: b.env, node: n} }

// in returns the scope for another node.
func (s *scope) in(n *analyze.Node) *scope {
	out := *s
	out.node = n
	return &out
}

// part returns the scope for a new part of the node.
func (s *scope) part(kind analyze.Kind, name string, at document.Position) *scope {
	return s.in(s.node.Part(kind, name, at))
}

// with returns a scope with one more local name.
func (s *scope) with(b *builder, name string, t *cel.Type, flow *analyze.Flow, at document.Position) *scope {
	env, err := s.env.With(cel.Var{Name: name, Type: t})
	if err != nil {
		b.problems.Errorf(at, "%v", err)
		env = s.env
	}
	out := &scope{env: env, flows: maps.Clone(s.flows), nodes: s.nodes, node: s.node}
	if out.flows == nil {
		out.flows = map[string]*analyze.Flow{}
	}
	out.flows[name] = flow
	return out
}

// withNode is with for a name whose value a node computes.
func (s *scope) withNode(b *builder, n *analyze.Node, t *cel.Type, flow *analyze.Flow) *scope {
	out := s.with(b, n.Name, t, flow, n.Pos)
	out.nodes = maps.Clone(s.nodes)
	if out.nodes == nil {
		out.nodes = map[string]*analyze.Node{}
	}
	out.nodes[n.Name] = n
	return out
}

// flow returns where the value of a name comes from.
func (b *builder) flow(s *scope, name string) *analyze.Flow {
	if f, ok := s.flows[name]; ok {
		return f
	}
	return b.flows[name]
}

// nodeOf returns the node of a name; nil for a local name without one, which is
// part of what is compiled.
func (b *builder) nodeOf(s *scope, name string) *analyze.Node {
	if n, ok := s.nodes[name]; ok {
		return n
	}
	if _, local := s.flows[name]; local {
		return nil
	}
	return b.nodes[name]
}

// program compiles an expression whose whole result is used; nil when the field
// is absent or wrong.
func (b *builder) program(s *scope, text v1alpha1.Text) *cel.Program {
	p, flow := b.alias(s, text)
	if p != nil {
		s.node.Reads.Consume(flow)
	}
	return p
}

// alias compiles an expression whose result is handed on: what is read of it is
// for its users to say.
func (b *builder) alias(s *scope, text v1alpha1.Text) (*cel.Program, *analyze.Flow) {
	if !text.Set() {
		return nil, nil
	}
	p := s.env.Compile(cel.Whole(text), b.problems)
	if p == nil {
		return nil, nil
	}
	flow := b.trace(s, p)
	if p.Names()["now"] {
		b.problems.Hintf(text.Pos(), "elapsed(since, period) and grace.holds(since, period) compare with the time and say when the answer changes",
			"now may only be written into templates")
	}
	return p, flow
}

// trace records what a program depends on, and returns where its result comes
// from.
func (b *builder) trace(s *scope, p *cel.Program) *analyze.Flow {
	flow, reads := analyze.Trace(p, func(name string) *analyze.Flow { return b.flow(s, name) })
	s.node.Reads.Merge(reads)
	s.node.Calls(p)
	for name := range p.Names() {
		s.node.Use(b.nodeOf(s, name))
	}
	b.trees.add(p)
	return flow
}

// template compiles a template, all of whose values are used.
func (b *builder) template(s *scope, t v1alpha1.Template) *cel.Template {
	return b.templateNode(s, t.Node)
}

func (b *builder) templateNode(s *scope, n *document.Node) *cel.Template {
	if n == nil {
		return nil
	}
	compiled := s.env.Template(n, b.problems)
	compiled.Walk(func(p *cel.Program) {
		s.node.Reads.Consume(b.trace(s, p))
		if p.Names()["now"] && analyze.Compares(p) {
			b.problems.Hintf(p.Pos(), "use elapsed(since, period) or grace.holds(since, period)", "the flip of a comparison with now cannot be known")
		}
	})
	return compiled
}

// wantType refuses a program of another type than the field takes.
func (b *builder) wantType(p *cel.Program, text v1alpha1.Text, want ...*cel.Type) {
	if p == nil || cel.IsDyn(p.Type()) {
		return
	}
	for _, w := range want {
		if p.Type().IsExactType(w) {
			return
		}
	}
	b.problems.Errorf(text.Pos(), "this must give %s, it gives %s", cel.TypeName(want[0]), cel.TypeName(p.Type()))
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// identifier checks a name that expressions use, and that it is new.
func (b *builder) identifier(name v1alpha1.Text, what string, seen map[string]bool, at document.Position) bool {
	switch {
	case !name.Set():
		b.problems.Errorf(at, "this %s has no name", what)
	case !identifier.MatchString(name.Value) || reserved[name.Value]:
		b.problems.Hintf(name.Pos(), "letters, digits and _, not beginning with a digit, and not a word of CEL", "this %s cannot be named %q", what, name.Value)
	case seen[name.Value]:
		b.problems.Errorf(name.Pos(), "duplicate %s %q", what, name.Value)
	default:
		seen[name.Value] = true
		return true
	}
	return false
}

// reserved are CEL's words, and the names that every expression has.
var reserved = map[string]bool{
	"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true, "continue": true,
	"else": true, "for": true, "function": true, "if": true, "import": true, "let": true, "loop": true, "package": true,
	"namespace": true, "return": true, "var": true, "void": true, "while": true,
	"object": true, "key": true, "params": true, "inputs": true, "variables": true, "now": true, "initial": true, "leaving": true,
}

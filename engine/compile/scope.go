package compile

import (
	"maps"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// scope is where an expression is: the names that it may use beyond those of the
// policy, where their values come from, and the node that depends on what the
// expression reads and uses. No expression is compiled without one, so that no
// dependency is lost.
type scope struct {
	names    *names
	env      *cel.Env
	flows    map[string]*analyze.Flow
	forms    map[string]*analyze.Form
	nodes    map[string]*analyze.Node
	node     *analyze.Node
	problems *findings
}

// newScope returns the scope of an expression that uses names of the policy only.
func newScope(n *names, node *analyze.Node) *scope {
	return &scope{names: n, env: n.env, node: node, problems: n.problems}
}

// global returns the scope without local names.
func (s *scope) global() *scope { return newScope(s.names, s.node) }

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
func (s *scope) with(name string, t *cel.Type, flow *analyze.Flow, at document.Position) *scope {
	out := *s
	if env, err := s.env.With(cel.Var{Name: name, Type: t}); err != nil {
		s.problems.Errorf(at, "%v", err)
	} else {
		out.env = env
	}
	out.flows, out.forms = added(s.flows, name, flow), added(s.forms, name, nil)
	return &out
}

// withNode is with for a name whose value a node computes.
func (s *scope) withNode(n *analyze.Node, t *cel.Type, flow *analyze.Flow) *scope {
	out := s.with(n.Name, t, flow, n.Pos)
	out.nodes = added(s.nodes, n.Name, n)
	return out
}

// withError returns the scope of what is done about an error.
func (s *scope) withError(at document.Position) *scope {
	return s.with(analyze.ErrorMessage.String(), cel.StringType, nil, at)
}

// added returns a copy of a map with one more entry.
func added[T any](m map[string]T, name string, v T) map[string]T {
	out := map[string]T{}
	maps.Copy(out, m)
	out[name] = v
	return out
}

// flow returns where the value of a name comes from.
func (s *scope) flow(name string) *analyze.Flow {
	if f, ok := s.flows[name]; ok {
		return f
	}
	return s.names.flows[name]
}

// nodeOf returns the node of a name; nil for a local name without one, which is
// part of what is compiled.
func (s *scope) nodeOf(name string) *analyze.Node {
	if n, ok := s.nodes[name]; ok {
		return n
	}
	if _, local := s.flows[name]; local {
		return nil
	}
	return s.names.nodes[name]
}

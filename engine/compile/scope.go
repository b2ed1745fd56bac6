package compile

import (
	"maps"
	"regexp"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// scope is where an expression stands: the names it may use beyond those of
// the policy, and where these come from.
type scope struct {
	env   *cel.Env
	flows map[string]*cel.Flow
}

// with gives a scope with one more local name.
func (s *scope) with(b *builder, name string, t *cel.Type, flow *cel.Flow, at document.Position) *scope {
	env, err := s.env.With(cel.Var{Name: name, Type: t})
	if err != nil {
		b.problems.Errorf(at, "%v", err)
		env = s.env
	}
	flows := maps.Clone(s.flows)
	if flows == nil {
		flows = map[string]*cel.Flow{}
	}
	flows[name] = flow
	return &scope{env: env, flows: flows}
}

func (b *builder) flow(s *scope) cel.Names {
	return func(name string) *cel.Flow {
		if f, ok := s.flows[name]; ok {
			return f
		}
		return b.flows[name]
	}
}

func newDeps() plan.Deps { return plan.Deps{Reads: cel.Reads{}, Uses: map[string]bool{}} }

// program compiles an expression whose whole result is used; nil when the
// field is absent or wrong.
func (b *builder) program(s *scope, text v1alpha1.Text, deps *plan.Deps) *cel.Program {
	p, flow := b.alias(s, text, deps)
	if p != nil {
		b.consume(flow, deps)
	}
	return p
}

// alias compiles an expression whose result is handed on: what is read of it
// is for its users to say.
func (b *builder) alias(s *scope, text v1alpha1.Text, deps *plan.Deps) (*cel.Program, *cel.Flow) {
	if !text.Set() {
		return nil, nil
	}
	p := s.env.Compile(cel.Whole(text), b.problems)
	if p == nil {
		return nil, nil
	}
	flow := b.trace(s, p, deps)
	if deps.Uses["now"] {
		b.problems.Hintf(text.Pos(), "elapsed(since, period) and grace.holds(since, period) compare with the time and say when the answer changes",
			"now may only be written into templates")
	}
	return p, flow
}

func (b *builder) trace(s *scope, p *cel.Program, deps *plan.Deps) *cel.Flow {
	flow, reads, used := p.Trace(b.flow(s))
	deps.Reads.Merge(reads)
	b.note(reads)
	maps.Copy(deps.Uses, used)
	b.use(used)
	return flow
}

func (b *builder) consume(flow *cel.Flow, deps *plan.Deps) {
	deps.Reads.Consume(flow)
	all := cel.Reads{}
	all.Consume(flow)
	b.note(all)
}

// counted records that the number of a list's items is read.
func (b *builder) counted(flow *cel.Flow, deps *plan.Deps) {
	read := cel.Reads{}
	read.Presence(flow)
	deps.Reads.Merge(read)
	b.note(read)
}

// note gathers reads of the whole policy.
func (b *builder) note(reads cel.Reads) {
	b.reads.Merge(reads)
	if !b.joining {
		b.content.Merge(reads)
	}
}

// template compiles a template, all of whose values are used.
func (b *builder) template(s *scope, t v1alpha1.Template, deps *plan.Deps) *cel.Template {
	return b.templateNode(s, t.Node, deps)
}

func (b *builder) templateNode(s *scope, n *document.Node, deps *plan.Deps) *cel.Template {
	if n == nil {
		return nil
	}
	compiled := s.env.Template(n, b.problems)
	compiled.Walk(func(p *cel.Program) {
		inner := newDeps()
		b.consume(b.trace(s, p, &inner), &inner)
		if inner.Uses["now"] && p.Compares() {
			b.problems.Hintf(p.Pos(), "use elapsed(since, period) or grace.holds(since, period)", "the flip of a comparison with now cannot be known")
		}
		merge(deps, inner)
	})
	return compiled
}

func merge(into *plan.Deps, from plan.Deps) {
	into.Reads.Merge(from.Reads)
	maps.Copy(into.Uses, from.Uses)
}

// expand adds what the used variables and inputs are computed from.
func (b *builder) expand(deps plan.Deps) plan.Deps {
	out := newDeps()
	merge(&out, deps)
	for name := range deps.Uses {
		if inner, ok := b.deps[name]; ok {
			merge(&out, inner)
		}
	}
	return out
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
		b.problems.Errorf(name.Pos(), "the %s %q stands twice", what, name.Value)
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

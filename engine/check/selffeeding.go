package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// selfFeeding finds writes that compute a field from itself, or that write the time of the
// evaluation, so that every write causes the next. A condition may end that: only rules
// without one are checked.
func selfFeeding(p *policy) {
	for _, r := range p.plan.Rules {
		if r.Stop && r.When != nil {
			return
		}
		if r.Debounce == nil && (r.When == nil || holds(r.When.Tree().Expr()) == always) {
			p.feeding(r.Do)
		}
	}
}

// ownObjects finds children whose when or forEach depends on objects of the same child, other
// than by a test for a key: such an object may be deleted and made again without end.
func ownObjects(p *policy) {
	for _, r := range p.plan.Rules {
		if r.Child == "" || r.Prunes {
			continue
		}
		d := &dependencies{policy: p, rule: r, seen: map[string]bool{}}
		name := analyze.ChildRef(r.Child).String()
		var reads func(*cel.Program, bool) bool
		reads = func(program *cel.Program, own bool) bool {
			found := occurrences(program, name, false) > occurrences(program, name, true)
			for other := range program.Names() {
				found = found || d.through(other, own, reads)
			}
			return found
		}
		decide := []*cel.Program{r.ForEach}
		for _, c := range r.Cases {
			decide = append(decide, c.When)
		}
		for _, program := range decide {
			if program != nil && reads(program, true) {
				p.report(document.SelfFeeding, program.Pos(), "let the object or another one decide, or keep the result in the status; only a key in "+name+" may be asked for",
					fmt.Sprintf("which objects of the child %s are wanted depends on the objects of the same child, so what is deleted may be wanted again, without end", r.Child))
			}
		}
	}
}

// occurrences counts the uses of a name in an expression, or those of the form key in name.
func occurrences(program *cel.Program, name string, asKeys bool) (n int) {
	ast.PostOrderVisit(program.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if _, b, how := sides(e); asKeys && how == operators.In {
			e = b
		} else if asKeys {
			return
		}
		if e.Kind() == ast.IdentKind && e.AsIdent() == name {
			n++
		}
	}))
	return n
}

func (p *policy) feeding(list []plan.Action) {
	for _, a := range list {
		p.stamping(a)
		m, ok := a.(*plan.Merge)
		if !ok || !m.Of.Primary() {
			continue
		}
		m.Fields.EachField(func(path []string, leaf bool) {
			t := m.Fields
			for _, name := range path {
				t = t.Field(name)
			}
			if !leaf || t == nil {
				return
			}
			full := append(slices.Clone(m.Under), path...)
			t.Walk(func(program *cel.Program) { p.fed(program, full) })
		})
	}
}

// stamping reports the time of the evaluation in what an action writes to an object that is
// there.
func (p *policy) stamping(a plan.Action) {
	switch a := a.(type) {
	case *plan.Child:
		if !a.Apply {
			return
		}
	case *plan.Merge, *plan.ListEntry:
	default:
		return
	}
	plan.Programs(a, func(program *cel.Program) {
		if chooses(program, operators.Conditional, "orValue", "or") {
			return
		}
		for _, one := range p.behind(program, operators.Conditional, "orValue", "or") {
			if one.Names()[analyze.Now.Name] {
				p.report(document.SelfFeeding, program.Pos(), "write it only when something else has changed: give the rule a when",
					"the time differs in every evaluation, so every write causes the next")
				return
			}
		}
	})
}

// behind returns an expression with those of the variables that it uses, but for those that
// give one of several values by some functions.
func (p *policy) behind(program *cel.Program, functions ...string) []*cel.Program {
	out := []*cel.Program{program}
	for i := 0; i < len(out); i++ {
		for name := range out[i].Names() {
			p.variable(name, func(v *cel.Program) {
				if !slices.Contains(out, v) && !chooses(v, functions...) {
					out = append(out, v)
				}
			})
		}
	}
	return out
}

// variable visits the expressions of a variable of the policy by its name in expressions.
func (p *policy) variable(name string, visit func(*cel.Program)) {
	for _, v := range p.plan.Variables {
		switch {
		case analyze.VariableRef(v.Name).String() != name:
		case v.Program != nil:
			visit(v.Program)
		case v.Value != nil && v.Rego == nil:
			v.Value.Walk(visit)
		}
	}
}

// chooses reports whether an expression gives one of several values by some functions.
func chooses(program *cel.Program, functions ...string) (chooses bool) {
	ast.PostOrderVisit(program.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		name, _ := called(e)
		chooses = chooses || slices.Contains(functions, name)
	}))
	return chooses
}

// fed reports a sum or difference with the field that it is written to.
func (p *policy) fed(program *cel.Program, path []string) {
	found := false
	for _, one := range p.behind(program, operators.Conditional) {
		f := fieldsOf(one)
		ast.PostOrderVisit(f.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			if name, args := called(e); name == operators.Add || name == operators.Subtract {
				found = found || slices.ContainsFunc(args, func(arg ast.Expr) bool { return slices.Equal(p.own(f, arg), path) })
			}
		}))
	}
	if found {
		p.report(document.SelfFeeding, program.Pos(), "write it only when something else has changed: give the rule a when",
			strings.Join(path, ".")+" is computed from itself, so every write causes the next")
	}
}

// own returns the field of the primary object that an expression is, also by the name of a
// variable; nil if it is something else.
func (p *policy) own(f fields, e ast.Expr) []string {
	for range len(p.plan.Variables) + 1 {
		root, path, ok := f.chain(e)
		if !ok || root == "object" {
			return path
		}
		if root == "variables" && len(path) == 1 {
			root += "." + path[0]
		}
		var v *cel.Program
		p.variable(root, func(one *cel.Program) { v = one })
		if v == nil {
			return nil
		}
		f = fieldsOf(v)
		e = f.ast.Expr()
	}
	return nil
}

package check

import (
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
		if program.Names()[analyze.Now.Name] && !chooses(program) {
			p.report(document.SelfFeeding, program.Pos(), "write it only when something else has changed: give the rule a when",
				"the time differs in every evaluation, so every write causes the next")
		}
	})
}

// chooses reports whether an expression gives one of several values.
func chooses(program *cel.Program) (chooses bool) {
	ast.PostOrderVisit(program.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.CallKind {
			name := e.AsCall().FunctionName()
			chooses = chooses || name == operators.Conditional || name == "orValue" || name == "or"
		}
	}))
	return chooses
}

// fed reports a sum or difference with the field that it is written to.
func (p *policy) fed(program *cel.Program, path []string) {
	f := fieldsOf(program)
	ast.PostOrderVisit(f.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Add && e.AsCall().FunctionName() != operators.Subtract {
			return
		}
		for _, arg := range e.AsCall().Args() {
			if root, own, ok := f.chain(arg); ok && root == "object" && slices.Equal(own, path) {
				p.report(document.SelfFeeding, program.Pos(), "write it only when something else has changed: give the rule a when",
					strings.Join(path, ".")+" is computed from itself, so every write causes the next")
				return
			}
		}
	}))
}

// conversions are the functions through which chain looks.
var conversions = map[string]bool{"int": true, "string": true, "double": true, "dyn": true, "duration": true, "timestamp": true}

// chain returns the name that an expression begins with and the fields that it takes,
// one after the other.
func (f fields) chain(e ast.Expr) (root string, path []string, ok bool) {
	if e.Kind() == ast.IdentKind {
		return e.AsIdent(), nil, true
	}
	if a, ok := f.accessOf(e); ok {
		root, path, ok = f.chain(a.of)
		return root, append(path, strings.Trim(a.field, ".[]")), ok
	}
	if e.Kind() != ast.CallKind {
		return "", nil, false
	}
	switch call := e.AsCall(); {
	case call.IsMemberFunction() && handsOn[call.FunctionName()]:
		return f.chain(call.Target())
	case conversions[call.FunctionName()] && len(call.Args()) == 1:
		return f.chain(call.Args()[0])
	}
	return "", nil, false
}

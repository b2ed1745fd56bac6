package analyze

import (
	"runtime"
	"sync"
	"weak"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Condition is a condition taken apart at its connectives: it is one expression,
// or several that are joined.
type Condition struct {
	// Program is the expression itself.
	Program *cel.Program
	// Form says how Parts are joined; there are none when the expression is not
	// taken apart.
	Form  ConditionForm
	Parts []*Condition
}

// ConditionForm is how the parts of a condition are joined.
type ConditionForm int

// The forms.
const (
	Single ConditionForm = iota
	Not
	And
	Or
)

var forms = map[string]ConditionForm{operators.LogicalNot: Not, operators.LogicalAnd: And, operators.LogicalOr: Or}

// ConditionOf takes a condition apart. Parts that cannot be compiled by
// themselves stay together. The parts of a program are compiled once, for as long as
// the program is used: every record that is shown asks for them.
func ConditionOf(p *cel.Program) *Condition {
	parts := partsOf(p)
	return &Condition{Program: p, Form: parts.form, Parts: parts.parts}
}

// conditionParts are what a program was taken apart into.
type conditionParts struct {
	once  sync.Once
	form  ConditionForm
	parts []*Condition
}

// conditions has the parts of programs, by weak.Pointer[cel.Program]. They must not
// refer to the program: it goes with its policy, and they go with it.
var conditions sync.Map

func partsOf(p *cel.Program) *conditionParts {
	key := weak.Make(p)
	known, ok := conditions.Load(key)
	if !ok {
		if known, ok = conditions.LoadOrStore(key, &conditionParts{}); !ok {
			runtime.AddCleanup(p, func(key weak.Pointer[cel.Program]) { conditions.Delete(key) }, key)
		}
	}
	out, _ := known.(*conditionParts)
	out.once.Do(func() { out.form, out.parts = takeApart(p) })
	return out
}

// takeApart compiles the parts of a condition.
func takeApart(p *cel.Program) (ConditionForm, []*Condition) {
	e := p.Tree().Expr()
	if e.Kind() != ast.CallKind || forms[e.AsCall().FunctionName()] == Single {
		return Single, nil
	}
	var parts []*Condition
	for _, arg := range e.AsCall().Args() {
		part := p.Part(p.Env(), arg, p.Tree().SourceInfo())
		if part == nil {
			return Single, nil
		}
		form, own := takeApart(part)
		parts = append(parts, &Condition{Program: part, Form: form, Parts: own})
	}
	return forms[e.AsCall().FunctionName()], parts
}

// Deciding returns the parts that decide about the whole: of an `and` that does
// not hold those that do not, of an `or` that holds those that do, otherwise
// all. eval returns the truth of a part; ok is false when it has none, as that of a part
// that fails: it decides nothing if the others do.
func (c *Condition) Deciding(eval func(*cel.Program) (holds, ok bool)) []*cel.Program {
	holds, ok := eval(c.Program)
	if c.Form == Single {
		return []*cel.Program{c.Program}
	}
	var out []*cel.Program
	for _, part := range c.Parts {
		own, known := eval(part.Program)
		if decides := known && own == holds; ok && !decides && (c.Form == And && !holds || c.Form == Or && holds) {
			continue
		}
		out = append(out, part.Deciding(eval)...)
	}
	return out
}

// Judge evaluates the single parts of a condition in their order, as far as they
// decide about the whole. eval returns the truth of a part; ok is false when it has
// none.
func (c *Condition) Judge(eval func(*cel.Program) (holds, ok bool)) (holds, ok bool) {
	switch c.Form {
	case Single:
		return eval(c.Program)
	case Not:
		holds, ok = c.Parts[0].Judge(eval)
		return !holds, ok
	default:
		for _, part := range c.Parts {
			if holds, ok = part.Judge(eval); ok && holds == (c.Form == Or) {
				return holds, true
			}
		}
		return c.Form == And, ok
	}
}

// Single returns the parts of a condition that are not taken apart.
func (c *Condition) Single() (out []*cel.Program) {
	if c.Form == Single {
		return []*cel.Program{c.Program}
	}
	for _, part := range c.Parts {
		out = append(out, part.Single()...)
	}
	return out
}

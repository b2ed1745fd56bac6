package analyze

import (
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
// themselves stay together.
func ConditionOf(p *cel.Program) *Condition {
	c := &Condition{Program: p}
	e := p.Tree().Expr()
	if e.Kind() != ast.CallKind || forms[e.AsCall().FunctionName()] == Single {
		return c
	}
	var parts []*Condition
	for _, arg := range e.AsCall().Args() {
		part := p.Part(p.Env(), arg, p.Tree().SourceInfo())
		if part == nil {
			return c
		}
		parts = append(parts, ConditionOf(part))
	}
	c.Form, c.Parts = forms[e.AsCall().FunctionName()], parts
	return c
}

// Deciding returns the parts that decide about the whole: of an `and` that does
// not hold those that do not, of an `or` that holds those that do, otherwise
// all. eval returns the truth of a part; ok is false when it has none.
func (c *Condition) Deciding(eval func(*cel.Program) (holds, ok bool)) []*cel.Program {
	holds, ok := eval(c.Program)
	if c.Form == Single {
		return []*cel.Program{c.Program}
	}
	var out []*cel.Program
	for _, part := range c.Parts {
		own, known := eval(part.Program)
		if ok && known && own != holds && (c.Form == And && !holds || c.Form == Or && holds) {
			continue
		}
		out = append(out, part.Deciding(eval)...)
	}
	return out
}

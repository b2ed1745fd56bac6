package compile

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// constants computes expressions over params when the policy is compiled:
// nothing depends on them but the values of the params.
type constants struct {
	env *cel.Env
	// values are the params by the names that expressions use. certain leaves out those that
	// the installation must still set.
	values   map[string]value.Value
	certain  map[string]value.Value
	meter    *expr.Meter
	problems *findings
}

func newConstants(env *cel.Env, params []param, budget *cel.Budget, at document.Position, problems *findings) *constants {
	c := &constants{env: env, values: map[string]value.Value{}, certain: map[string]value.Value{}, meter: budget.Meter, problems: problems}
	vars := make([]cel.Var, len(params))
	for i, p := range params {
		vars[i] = cel.Var{Name: p.ref().String(), Type: p.of()}
		c.values[p.ref().String()] = p.Value
		if !p.Required || p.From != "" {
			c.certain[p.ref().String()] = p.Value
		}
	}
	with, err := env.With(vars...)
	if err != nil {
		problems.Errorf(at, "%v", err)
		return c
	}
	c.env = with.WithConstants(c.values).WithBudget(budget)
	return c
}

// template compiles a template that may use params only; nil when it is absent
// or wrong.
func (c *constants) template(t v1alpha1.Template) *cel.Template {
	compiled := c.env.Template(t.Node, &c.problems.Problems)
	switch {
	case compiled == nil || compiled.Constant() != nil:
		return compiled
	case expr.TooCostly(compiled.Unsettled()):
		c.problems.Errorf(t.Pos(), "this is computed when the policy is compiled: %s", expr.Message(compiled.Unsettled()))
	case !c.problems.HasErrors():
		c.problems.Errorf(t.Pos(), "only params may be used here")
	}
	return nil
}

// value evaluates a template.
func (c *constants) value(t v1alpha1.Template) value.Value {
	if compiled := c.template(t); compiled != nil {
		return compiled.Constant()
	}
	return nil
}

// expression evaluates an expression, and returns the program, too.
func (c *constants) expression(text v1alpha1.Text) (value.Value, *cel.Program) {
	program := c.env.Compile(cel.Whole(text), &c.problems.Problems)
	if program == nil {
		return nil, nil
	}
	v, err := program.Eval(cel.ConstScope(c.values), c.meter)
	if err != nil {
		c.problems.Errorf(text.Pos(), "%v", err)
	}
	return v, program
}

// selector evaluates a label selector.
func (c *constants) selector(t v1alpha1.Template) *selector.Selector {
	v := c.value(t)
	if v == nil || value.IsNull(value.Unwrap(v)) { // as without a selector
		return selector.Everything
	}
	s, err := selector.Parse(v)
	if err != nil {
		c.problems.Errorf(t.Pos(), "the selector is malformed: %v", err)
		return selector.Everything
	}
	return s
}

// durations rejects durations of rules that params or variables make no longer than nothing.
func (c *constants) durations(rules []v1alpha1.Rule, variables []v1alpha1.Variable) {
	for _, r := range rules {
		texts := []v1alpha1.Text{r.When.For}
		if r.Rate != nil {
			texts = append(texts, r.Rate.Per)
		}
		for _, t := range texts {
			if d, ok := value.Duration(c.known(t.Value, variables)); ok && d <= 0 {
				c.problems.Hintf(t.Pos(), "such as 5m", "the duration %s is %s, not longer than nothing", t.Value, d)
			}
		}
	}
}

// known returns the value of an expression over params, or of the variable that it names;
// nil if it depends on anything else.
func (c *constants) known(expression string, variables []v1alpha1.Variable) value.Value {
	for _, v := range variables {
		if expression == analyze.VariableRef(v.Name.Value).String() {
			expression = v.Expression.Value
		}
	}
	t := c.env.Template(document.NewText(document.Position{}, "${"+expression+"}"), &document.Problems{})
	if t.Program() == nil || slices.ContainsFunc(slices.Collect(maps.Keys(t.Program().Names())), func(name string) bool { return c.certain[name] == nil }) {
		return nil
	}
	return t.Constant()
}

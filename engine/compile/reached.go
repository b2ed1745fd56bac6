package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// reached tries the calls of a policy whose arguments are constants or params, in those parts
// that an evaluation can reach with these params.
type reached struct {
	// known are params, and variables that follow from them, by the names that
	// expressions use.
	known     map[string]value.Value
	variables map[string]*plan.Variable
	tried     map[*plan.Variable]bool
	said      map[string]bool
	params    func(found *document.Problem, param string)
	problems  *findings
}

// tryParams rejects params with which an expression fails in every evaluation.
func tryParams(p *plan.Policy, params map[string]value.Value, overrides map[string]Override, problems *findings) {
	r := &reached{known: maps.Clone(params), variables: map[string]*plan.Variable{}, tried: map[*plan.Variable]bool{}, said: map[string]bool{}, problems: problems}
	r.params = func(found *document.Problem, param string) {
		for v := r.variables[param]; v != nil; v = r.variables[param] {
			param = strings.Join(slices.Sorted(maps.Keys(v.Program.Names())), " ")
		}
		i := slices.IndexFunc(p.ParamInfo, func(info plan.ParamInfo) bool { return analyze.ParamRef(info.Name).String() == param })
		if i < 0 || p.ParamInfo[i].From == "" {
			return
		}
		info, o := p.ParamInfo[i], overrides[p.ParamInfo[i].Name]
		found.Message = fmt.Sprintf("the value %q given for the param %s.%s: %s", o, p.Written(), info.Name, found.Message)
		found.Hint, found.Source = fmt.Sprintf("it is used at %s", found.Position), ""
		found.Position = o.at(info.Pos)
	}
	for _, v := range p.Variables {
		name := analyze.VariableRef(v.Name).String()
		r.variables[name] = v
		if v.Program != nil {
			if value := v.Program.Known(r.known); value != nil {
				r.known[name] = value
			}
		}
	}
	for _, in := range p.Inputs {
		r.programs(nil, in.Get, in.Where, in.Key)
		r.programs(nil, in.OrderBy...)
	}
	for _, rule := range p.Rules {
		r.rule(rule)
	}
}

func (r *reached) rule(rule *plan.Rule) {
	if !r.goesOn(rule.Locals, rule.When, rule.ForEach) {
		return
	}
	r.actions(rule.Locals, rule.Do, rule.OnError)
	for _, row := range rule.Cases {
		if r.goesOn(rule.Locals, row.When) {
			r.actions(rule.Locals, row.Do)
		}
	}
	if rule.Rate != nil {
		r.programs(rule.Locals, rule.Rate.Max, rule.Rate.Per)
	}
}

func (r *reached) actions(locals []*plan.Variable, lists ...[]plan.Action) {
	for _, list := range lists {
		for _, a := range list {
			plan.Programs(a, func(p *cel.Program) { r.programs(locals, p) })
			r.actions(locals, plan.Within(a)...)
		}
	}
}

// goesOn tries conditions and lists, and reports whether something can come after them: false
// or an empty list ends it.
func (r *reached) goesOn(locals []*plan.Variable, list ...*cel.Program) bool {
	for _, p := range list {
		if p == nil {
			continue
		}
		r.programs(locals, p)
		switch v := p.Known(r.known).(type) {
		case types.Bool:
			if !bool(v) {
				return false
			}
		case *value.List:
			if v.Len() == 0 {
				return false
			}
		}
	}
	return true
}

// programs tries expressions, and the variables that they come to.
func (r *reached) programs(locals []*plan.Variable, list ...*cel.Program) {
	for _, p := range list {
		if p == nil {
			continue
		}
		var problems document.Problems
		names, cause := p.Try(r.known, &problems)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			r.variable(name, locals)
		}
		for _, found := range problems.List() {
			r.params(&found, cause)
			if text := found.Error(); !r.said[text] { // an expression may stand for several rules
				r.said[text] = true
				r.problems.Add(found)
			}
		}
	}
}

func (r *reached) variable(name string, locals []*plan.Variable) {
	v := r.variables[name]
	if i := slices.IndexFunc(locals, func(v *plan.Variable) bool { return v.Name == name }); i >= 0 {
		v = locals[i]
	}
	if v == nil || r.tried[v] {
		return
	}
	r.tried[v] = true
	r.programs(locals, v.Program)
	if r.goesOn(locals, v.When) {
		v.Value.Walk(func(p *cel.Program) { r.programs(locals, p) })
	}
	if c := v.Collection; c != nil && r.goesOn(locals, c.ForEach) {
		locals = slices.Concat(locals, c.Locals)
		if !r.goesOn(locals, c.When) {
			return
		}
		r.programs(locals, c.Key)
		r.programs(locals, c.OrderBy...)
		c.Value.Walk(func(p *cel.Program) { r.programs(locals, p) })
	}
}

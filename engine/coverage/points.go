package coverage

import (
	"fmt"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
)

// The names of outcomes.
const (
	fired   = "fired"
	skipped = "skipped"
	matched = "matched"
	isTrue  = "true"
	isFalse = "false"
	kept    = "kept"
	dropped = "dropped"
	given   = "points"

	evaluated = "evaluated"
)

// takeName is the step that says how many candidates win.
const takeName = "take"

// pointsOf returns the points of a policy.
func pointsOf(p *plan.Policy) []Point {
	l := &lister{policy: p.Written()}
	for _, v := range p.Variables {
		l.variable(v)
	}
	for _, r := range p.Rules {
		if !r.Former {
			l.rule(r)
		}
	}
	return l.points
}

type lister struct {
	policy string
	points []Point
}

func (l *lister) add(kind Kind, rule, text string, at document.Position, outcomes ...string) {
	p := Point{Policy: l.policy, Kind: kind, Rule: rule, Text: text, Position: at}
	for _, name := range outcomes {
		p.Outcomes = append(p.Outcomes, Outcome{Name: name})
	}
	l.points = append(l.points, p)
}

func (l *lister) rule(r *plan.Rule) {
	outcomes := []string{fired}
	if r.When != nil && !r.WhenPerItem && r.When.Text().Node.Written() {
		outcomes = append(outcomes, skipped)
	}
	l.add(Rule, r.Name, r.Name, r.Pos, outcomes...)
	l.condition(r.When)
	for _, v := range r.Locals {
		l.variable(v)
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		l.add(Row, r.Name, rowName(c.Name, i+1), c.Pos, matched)
		l.condition(c.When)
		l.actions(r.Name, c.Do)
	}
	l.actions(r.Name, r.Do)
}

// rowName is what a row of a decision table is called.
func rowName(name string, row int) string {
	if name == "" {
		return fmt.Sprintf("row %d", row)
	}
	return name
}

func (l *lister) variable(v *plan.Variable) {
	l.condition(v.When)
	if v.Program != nil && v.Program.Type().IsExactType(cel.BoolType) {
		l.condition(v.Program)
	}
	if v.Rego != nil {
		l.lines(v.Rego.Query)
	}
	if v.Collection == nil {
		return
	}
	l.condition(v.Collection.When)
	for _, local := range v.Collection.Locals {
		l.variable(local)
	}
}

// lines adds the lines that a query may evaluate. Queries of one policy share modules.
func (l *lister) lines(q *rego.Query) {
	for _, line := range q.Lines() {
		l.add(Line, "", line.Text, line.At, evaluated)
	}
}

// condition adds the parts of a condition. What follows from params alone is the same
// for all decisions, and no point.
func (l *lister) condition(p *cel.Program) {
	if p == nil || !p.Type().IsExactType(cel.BoolType) {
		return
	}
	if !p.Text().Node.Written() {
		return // derived from children
	}
	for _, part := range analyze.ConditionOf(p).Single() {
		if !analyze.OnlyParams(part) {
			l.add(Condition, "", part.Source(), part.Pos(), isTrue, isFalse)
		}
	}
}

func (l *lister) actions(rule string, list []plan.Action) {
	for _, a := range list {
		s, ok := a.(*plan.Select)
		if !ok {
			continue
		}
		for i := range s.Steps {
			l.step(rule, &s.Steps[i])
		}
		if s.Take != nil {
			l.add(Step, rule, takeName, s.Take.Pos, kept, dropped)
		}
		l.actions(rule, s.Together)
		l.actions(rule, s.Then)
		l.actions(rule, s.Otherwise)
	}
}

func (l *lister) step(rule string, s *plan.Step) {
	switch s.Kind {
	case plan.Filter, plan.Query, plan.Prefer:
		l.add(Step, rule, s.Name, s.Pos, kept, dropped)
	case plan.Score:
		l.add(Step, rule, s.Name, s.Pos, given)
	}
}

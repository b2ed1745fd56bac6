package coverage

import (
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
)

// use is what one decision uses of its policy.
type use struct {
	policy *plan.Policy
	count  func(key id, outcome string)
}

func (u *use) condition(part *cel.Program, holds bool) {
	outcome := isFalse
	if holds {
		outcome = isTrue
	}
	u.count(id{policy: u.policy.Written(), kind: Condition, text: part.Source(), at: part.Pos()}, outcome)
}

func (u *use) line(l rego.Line) {
	u.count(id{policy: u.policy.Written(), kind: Line, text: l.Text, at: l.At}, evaluated)
}

func (u *use) rule(d *eval.RuleDetails) {
	r := d.Rule
	u.count(id{u.policy.Written(), r.Name, Rule, r.Name, r.Pos}, outcomeOf(d))
	for i := range d.Items {
		if row := d.Items[i].Row; row > 0 {
			c := &r.Cases[row-1]
			u.count(id{u.policy.Written(), r.Name, Row, rowName(c.Name, row), c.Pos}, matched)
		}
	}
	for i := range d.Selections {
		u.selection(r, d.Selections[i].Details)
	}
}

// outcomeOf returns the outcome of a rule that has come about; "" while it waits
// although its condition holds.
func outcomeOf(d *eval.RuleDetails) string {
	switch {
	case d.Fired:
		return fired
	case d.Delayed != nil && d.Delayed.Wanted:
		return ""
	}
	return skipped
}

// selection counts the steps of a selection. Nested selections of a rule are told
// apart by the names of their steps.
func (u *use) selection(r *plan.Rule, d *selection.Details) {
	if d == nil {
		return
	}
	u.take(r, d)
	for _, s := range stepsOf(r) {
		key := id{u.policy.Written(), r.Name, Step, s.Name, s.Pos}
		for _, c := range d.Candidates {
			switch {
			case c.Excluded == s.Name && !c.Passed():
				u.count(key, dropped)
			case s.Kind != plan.Score && c.Passed():
				u.count(key, kept)
			case s.Kind == plan.Score && slices.ContainsFunc(c.Points, func(p selection.Points) bool { return p.Step == s.Name && p.Points != 0 }):
				u.count(key, given)
			}
		}
	}
}

// take counts what a selection with a take made of its candidates.
func (u *use) take(r *plan.Rule, d *selection.Details) {
	for _, s := range selectsOf(r) {
		if s.Take == nil || !slices.Equal(s.Names, d.Levels) {
			continue
		}
		key := id{u.policy.Written(), r.Name, Step, takeName, s.Take.Pos}
		for _, c := range d.Candidates {
			if c.Won {
				u.count(key, kept)
			} else if c.Passed() {
				u.count(key, dropped)
			}
		}
	}
}

// stepsOf returns the steps of all selections of a rule.
func stepsOf(r *plan.Rule) (out []*plan.Step) {
	for _, s := range selectsOf(r) {
		for i := range s.Steps {
			out = append(out, &s.Steps[i])
		}
	}
	return out
}

// selectsOf returns all selections of a rule.
func selectsOf(r *plan.Rule) (out []*plan.Select) {
	for a := range r.Actions() {
		if s, ok := a.(*plan.Select); ok {
			out = append(out, s)
		}
	}
	return out
}

package plan

import (
	"iter"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// Actions returns all actions of a rule, also those of its selections and those for
// failures.
func (r *Rule) Actions() iter.Seq[Action] {
	lists := [][]Action{r.Do, r.OnError}
	for i := range r.Cases {
		lists = append(lists, r.Cases[i].Do)
	}
	if r.Rate != nil {
		lists = append(lists, r.Rate.Note)
	}
	return all(lists...)
}

// Stamps reports whether the policy writes the time of the evaluation.
func (p *Policy) Stamps() (stamps bool) {
	for _, r := range p.Rules {
		for a := range r.Actions() {
			Programs(a, func(program *cel.Program) { stamps = stamps || program.Names()[analyze.Now.Name] })
		}
	}
	return stamps
}

// OfErrors returns all actions for failures of a rule, also those of their selections.
func (r *Rule) OfErrors() iter.Seq[Action] { return all(r.OnError) }

// all returns the actions of some lists, and those inside them.
func all(lists ...[]Action) iter.Seq[Action] {
	return func(yield func(Action) bool) {
		lists := lists
		for len(lists) > 0 {
			list := lists[0]
			lists = lists[1:]
			for _, a := range list {
				if !yield(a) {
					return
				}
				lists = append(lists, Within(a)...)
			}
		}
	}
}

// Within returns the lists of actions inside an action: those of a selection.
func Within(a Action) [][]Action {
	s, ok := a.(*Select)
	if !ok {
		return nil
	}
	lists := [][]Action{s.Together, s.Then, s.Otherwise}
	if s.Confirm != nil {
		lists = append(lists, s.Confirm.OnError)
	}
	for i := range s.Steps {
		if s.Steps[i].Ask != nil {
			lists = append(lists, s.Steps[i].Ask.OnError)
		}
	}
	return lists
}

// Programs visits the expressions of an action, without those of actions inside it.
func Programs(a Action, visit func(*cel.Program)) {
	v := visitor(visit)
	switch a := a.(type) {
	case *Merge:
		v.ref(&a.Of)
		v.templates(a.Fields)
	case *Condition:
		v.ref(&a.Of)
		v.templates(a.Type, a.Status, a.Reason, a.Message)
	case *ListEntry:
		v.ref(&a.Of)
		v.templates(a.By, a.Entry)
	case *Child:
		v.templates(a.Manifest)
	case *Delete:
		v.ref(&a.Of)
		v.templates(a.GracePeriod)
	case *Scale:
		v.ref(&a.Of)
		v.programs(a.Replicas)
	case *Evict:
		v.ref(&a.Of)
		v.templates(a.GracePeriod)
	case *Approve:
		v.ref(&a.Of)
		v.programs(a.Approved)
		v.templates(a.Reason, a.Message)
	case *Finalizer:
		v.ref(&a.Of)
		v.templates(a.Name)
	case *Remember:
		v.templates(a.Name, a.Value)
	case *Event:
		v.ref(&a.Of)
		v.templates(a.Reason, a.Message)
	case *Log:
		v.templates(a.Message)
	case *Fail:
		v.templates(a.Message)
	case *Select:
		v.selection(a)
	}
}

type visitor func(*cel.Program)

func (v visitor) programs(list ...*cel.Program) {
	for _, p := range list {
		if p != nil {
			v(p)
		}
	}
}

func (v visitor) templates(list ...*cel.Template) {
	for _, t := range list {
		t.Walk(v)
	}
}

func (v visitor) ref(of *ObjectRef) {
	v.programs(of.Expression)
	v.templates(of.Namespace, of.Name)
}

func (v visitor) selection(s *Select) {
	for _, l := range s.Levels {
		v.programs(l.In)
		v.programs(l.OrderBy...)
	}
	v.templates(s.Summary)
	for i := range s.Steps {
		step := &s.Steps[i]
		v.programs(step.When, step.Expression, step.GroupBy)
		v.ask(step.Ask)
	}
	v.programs(s.OrderBy...)
	if s.Take != nil {
		v.programs(s.Take.Weight, s.Take.Budget, s.Take.Max)
	}
	v.programs(s.Claim)
	v.ask(s.Confirm)
}

func (v visitor) ask(a *Ask) {
	if a != nil {
		v.templates(a.With, a.Candidate)
	}
}

// EachProgram visits all expressions of the policy.
func (p *Policy) EachProgram(visit func(*cel.Program)) {
	v := visitor(visit)
	for _, in := range p.Inputs {
		v.programs(in.Get, in.Where, in.Key)
		v.programs(in.OrderBy...)
	}
	v.variables(p.Variables)
	for _, r := range p.Rules {
		v.programs(r.When, r.ForEach)
		v.variables(r.Locals)
		for _, row := range r.Cases {
			v.programs(row.When)
		}
		for a := range r.Actions() {
			Programs(a, visit)
		}
	}
}

// VariablePrograms visits the expressions of variables.
func VariablePrograms(list []*Variable, visit func(*cel.Program)) { visitor(visit).variables(list) }

func (v visitor) variables(list []*Variable) {
	for _, one := range list {
		v.programs(one.Program, one.When)
		v.templates(one.Value)
		if c := one.Collection; c != nil {
			v.programs(c.ForEach, c.When, c.Key)
			v.programs(c.OrderBy...)
			v.templates(c.Value)
			v.variables(c.Locals)
		}
	}
}

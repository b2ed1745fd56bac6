package check

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// absentFields finds reads of fields that may be absent, and of objects that may be
// null, where nothing that is evaluated before mentions them.
func absentFields(p *policy) {
	c := &absence{policy: p, mentions: newMentions(p.plan), guards: map[string]keys{}, nullable: map[string]bool{}}
	c.nullable["object"] = p.plan.Primary.Optional && !p.plan.Primary.PruneOnly // else rules are for objects that there are
	for _, in := range p.plan.Inputs {
		c.nullable[analyze.InputRef(in.Name).String()] = in.Shape == plan.One
	}
	given := c.selected()
	for _, in := range p.plan.Inputs {
		if in.Get != nil && !in.Off {
			c.programs(given, in.Get) // a where that fails leaves an item out
		}
	}
	c.rules(given)
	for _, v := range slices.Backward(p.plan.Variables) { // its users come first
		c.variable(c.guards[analyze.VariableRef(v.Name).String()], v)
	}
}

// absence looks for reads that nothing guards.
type absence struct {
	policy   *policy
	mentions *mentions
	// guards are what guards every use of a variable that was seen.
	guards   map[string]keys
	nullable map[string]bool
}

// selected are the labels that selectors ask for.
func (c *absence) selected() keys {
	out := keys{}
	add := func(t *schema.Type) {
		out[t.Name+".metadata.labels"], out[t.Name+".metadata.labels[*]"] = true, true
	}
	if c.policy.plan.Primary.Selector.String() != "" {
		add(c.policy.plan.Primary.Type)
	}
	for _, in := range c.policy.plan.Inputs {
		if in.Source.Selector != "" {
			add(in.Type)
		}
	}
	return out
}

func (c *absence) rules(given keys) {
	for _, r := range c.policy.plan.Rules {
		if len(r.OnError) == 0 { // else its author expects failures
			c.rule(given, r)
		}
		if r.Stop {
			given = given.with(c.mentions.with(r.Locals).guards(r.When, false))
		}
		if r.When == nil && r.ForEach == nil {
			given = given.with(written(c.policy.plan, r))
		}
	}
}

// written are the fields that a rule sets.
func written(p *plan.Policy, r *plan.Rule) keys {
	out := keys{}
	for _, a := range r.Do {
		m, ok := a.(*plan.Merge)
		if !ok || !m.Of.Primary() {
			continue
		}
		t := p.Primary.Type
		for _, name := range m.Under {
			out[t.Name+"."+name] = true
			if t = t.Field(name); t == nil {
				return out
			}
		}
		m.Fields.EachField(func(path []string, _ bool) {
			if len(path) == 1 {
				out[t.Name+"."+path[0]] = true
			}
		})
	}
	return out
}

func (c *absence) rule(given keys, r *plan.Rule) {
	inner := &absence{policy: c.policy, mentions: c.mentions.with(r.Locals), guards: c.guards, nullable: c.nullable}
	when := inner.mentions.guards(r.When, true)
	if r.WhenPerItem {
		c.programs(given, r.ForEach)
		given = given.with(c.mentions.programs(r.ForEach))
		inner.programs(given, r.When)
	} else {
		inner.programs(given, r.When)
		c.programs(given.with(when), r.ForEach)
		given = given.with(c.mentions.programs(r.ForEach))
	}
	given = given.with(when)
	inner.actions(given, r.Do)
	for _, row := range r.Cases {
		inner.programs(given, row.When)
		inner.actions(given.with(inner.mentions.guards(row.When, true)), row.Do)
		given = given.with(inner.mentions.guards(row.When, false))
	}
	inner.locals(r.Locals)
}

// locals looks at the variables of a rule or a collection, users first, and forgets
// their names.
func (c *absence) locals(list []*plan.Variable) {
	for _, v := range slices.Backward(list) {
		c.variable(c.guards[v.Name], v)
		delete(c.guards, v.Name)
	}
}

func (c *absence) actions(given keys, list []plan.Action) {
	for _, a := range list {
		inner := given
		if s, ok := a.(*plan.Select); ok {
			inner = c.selection(given, s)
		} else {
			plan.Programs(a, func(p *cel.Program) { c.programs(given, p) })
		}
		for _, more := range plan.Within(a) {
			c.actions(inner, more)
		}
	}
}

// selection looks at the expressions of a selection, in the order in which they are
// evaluated, and returns what guards its actions: what a step reads of a candidate, or asks
// for, is there in the steps after it, because a candidate for which it fails is no winner.
func (c *absence) selection(given keys, s *plan.Select) keys {
	for _, l := range s.Levels {
		c.programs(given, l.In)
		c.programs(given, l.OrderBy...)
	}
	c.template(given, s.Summary)
	for i := range s.Steps {
		step := &s.Steps[i]
		c.programs(given, step.When)
		if on := given.with(c.mentions.guards(step.When, true)); step.Ask != nil {
			c.ask(on, step.Ask)
		} else {
			c.programs(on, step.GroupBy, step.Expression)
		}
		given = given.with(c.mentions.programs(step.When, step.Expression))
	}
	c.programs(given, s.OrderBy...)
	if s.Take != nil {
		c.programs(given, s.Take.Weight, s.Take.Budget, s.Take.Max)
		given = given.with(c.mentions.programs(s.Take.Weight))
	}
	c.programs(given, s.Claim)
	c.ask(given, s.Confirm)
	return given
}

func (c *absence) ask(given keys, a *plan.Ask) {
	if a != nil {
		c.template(given, a.With)
		c.template(given, a.Candidate)
	}
}

// variable looks at the expressions of a variable; guards is nil for one that is not
// used where a failure matters.
func (c *absence) variable(guards keys, v *plan.Variable) {
	if guards == nil {
		return
	}
	c.programs(guards, v.Program, v.When)
	c.template(guards.with(c.mentions.guards(v.When, true)), v.Value)
	if v.Collection == nil {
		return
	}
	l := v.Collection
	c.programs(guards, l.ForEach)
	inner := &absence{policy: c.policy, mentions: c.mentions.with(l.Locals), guards: c.guards, nullable: c.nullable}
	guards = guards.with(c.mentions.programs(l.ForEach))
	inner.programs(guards, l.When)
	guards = guards.with(inner.mentions.guards(l.When, true))
	inner.template(guards, l.Value)
	inner.programs(guards, append([]*cel.Program{l.Key}, l.OrderBy...)...)
	inner.locals(l.Locals)
}

func (c *absence) template(guards keys, t *cel.Template) {
	t.Walk(func(p *cel.Program) { c.programs(guards, p) })
}

func (c *absence) programs(guards keys, list ...*cel.Program) {
	for _, p := range list {
		if p != nil {
			(&absenceIn{absence: c, fields: fieldsOf(p), said: keys{}}).visit(p.Tree().Expr(), guards)
		}
	}
}

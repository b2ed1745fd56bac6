package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

func (b *builder) rules() {
	if n := len(b.doc.Spec.Rules); n > MaxRules {
		b.problems.Errorf(b.doc.Pos, "the policy has %d rules, at most %d are allowed", n, MaxRules)
		return
	}
	if len(b.doc.Spec.Rules) == 0 {
		b.problems.Warnf(b.doc.Pos, "the policy has no rules, so it does nothing")
	}
	seen := map[string]document.Position{}
	for i := range b.doc.Spec.Rules {
		r := &b.doc.Spec.Rules[i]
		if !r.Name.Set() {
			b.problems.Hintf(r.Pos, "name it in plain words: it is what events, traces and effects show", "a rule has no name")
			continue
		}
		if first, dup := seen[r.Name.Value]; dup {
			b.problems.Errorf(r.Name.Pos(), "duplicate rule %q, first on line %d", r.Name.Value, first.Line)
			continue
		}
		seen[r.Name.Value] = r.Name.Pos()
		b.rule(r)
	}
}

func (b *builder) rule(r *v1alpha1.Rule) {
	b.compiling = r.Pos
	if size := textSize(r); size > MaxRuleBytes {
		b.problems.Errorf(r.Pos, "the rule %q has %d bytes, at most %d are allowed", r.Name.Value, size, MaxRuleBytes)
	}
	out := &plan.Rule{Name: r.Name.Value, Pos: r.Pos, ContinueOnError: r.ContinueOnError, Finally: r.Finally, Stop: r.Stop}
	if len(r.Do)+len(r.Cases)+len(r.OnError) == 0 && !r.Stop {
		b.problems.Warnf(r.Pos, "the rule %q does nothing: it has neither do, nor cases, nor stop", r.Name.Value)
	}
	out.Node = b.graph().Part(analyze.Rule, out.Name, r.Pos)
	out.Gate = out.Node.Part(analyze.Gate, out.Name, r.Pos)
	b.ruleParts(r, out)
	if out.ForEach == nil && r.ForEach.Set() {
		return
	}
	b.plan.Rules = append(b.plan.Rules, out)
}

// ruleParts compiles what a rule consists of.
func (b *builder) ruleParts(r *v1alpha1.Rule, out *plan.Rule) {
	s := b.forEach(r, out, b.global(out.Gate))
	if s == nil {
		return
	}
	out.Locals, s = b.locals(s.in(out.Node), r.Variables)
	b.when(r, out, s.in(out.Gate))
	b.ruleActions(s, r, out)
}

func (b *builder) ruleActions(s *scope, r *v1alpha1.Rule, out *plan.Rule) {
	if len(r.Do) > 0 && len(r.Cases) > 0 {
		b.problems.Hintf(r.Pos, "a rule has one or the other", "the rule %q has do and cases", r.Name.Value)
	}
	out.Do = b.actions(s, r.Do)
	for i := range r.Cases {
		out.Cases = append(out.Cases, b.ruleCase(s, &r.Cases[i]))
	}
	out.OnError = b.actions(s.with(b, "error.message", cel.StringType, nil, r.Pos), r.OnError)
	if r.Debounce != nil {
		out.Debounce = b.debounce(s, r, out.WhenPerItem)
	}
}

// forEach compiles the list of a rule, if it has one, and returns the scope of
// its items; nil when the list is wrong.
func (b *builder) forEach(r *v1alpha1.Rule, out *plan.Rule, s *scope) *scope {
	if !r.ForEach.Set() {
		return s
	}
	program, flow := b.alias(s, r.ForEach)
	if program == nil {
		return nil
	}
	s.node.Reads.Presence(flow)
	if !cel.IsList(program.Type()) && !cel.IsDyn(program.Type()) {
		b.problems.Errorf(r.ForEach.Pos(), "forEach needs a list, this gives %s", cel.TypeName(program.Type()))
		return nil
	}
	out.ForEach, out.As = program, "item"
	if r.As.Set() && b.identifier(r.As, "item", map[string]bool{}, r.Pos) {
		out.As = r.As.Value
	}
	return s.with(b, out.As, elemType(program.Type()), flow.Elem(), r.Pos)
}

// when compiles a rule's condition. It is evaluated once, unless it uses a
// variable of the rule or names the item.
func (b *builder) when(r *v1alpha1.Rule, out *plan.Rule, s *scope) {
	if out.When = b.program(s, r.When); out.When == nil {
		return
	}
	b.wantType(out.When, r.When, cel.BoolType)
	names := out.When.Names()
	usesLocals := slices.ContainsFunc(out.Locals, func(v *plan.Variable) bool { return names[v.Name] })
	out.WhenPerItem = out.ForEach != nil && (usesLocals || names[out.As])
}

func (b *builder) ruleCase(s *scope, c *v1alpha1.Case) plan.Case {
	out := plan.Case{Name: c.Name.Value, When: b.program(s, c.When)}
	b.wantType(out.When, c.When, cel.BoolType)
	out.Do = b.actions(s, c.Do)
	return out
}

package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// rules compiles the rules of a policy.
type rules struct {
	names     *names
	constants *constants
	variables locals
	actions   actionList
	problems  *findings
	rates     *rates
}

func (rs *rules) all(spec *v1alpha1.Spec, at document.Position) (out []*plan.Rule) {
	docs := spec.Rules
	if n := len(docs); n > MaxRules {
		rs.problems.Errorf(at, "the policy has %d rules, at most %d are allowed", n, MaxRules)
		return nil
	}
	if len(docs)+len(spec.Children) == 0 {
		rs.problems.Reportf(document.NoRules, at, "", "the policy has no rules, so it does nothing")
	}
	seen := map[string]document.Position{}
	for i := range docs {
		doc := &docs[i]
		if !doc.Name.Set() {
			rs.problems.Hintf(doc.Pos, "name it in plain words: it is what events, traces and effects show", "a rule has no name")
			continue
		}
		if first, dup := seen[doc.Name.Value]; dup {
			rs.problems.Errorf(doc.Name.Pos(), "duplicate rule %q, first on line %d", doc.Name.Value, first.Line)
			continue
		}
		seen[doc.Name.Value] = doc.Name.Pos()
		if r := rs.rule(doc); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// rule compiles a rule; nil when its list is wrong.
func (rs *rules) rule(doc *v1alpha1.Rule) *plan.Rule {
	rs.problems.enter(doc.Pos)
	if size := textSize(doc); size > MaxRuleBytes {
		rs.problems.Errorf(doc.Pos, "the rule %q has %d bytes, at most %d are allowed", doc.Name.Value, size, MaxRuleBytes)
	}
	if len(doc.Do)+len(doc.Cases)+len(doc.OnError) == 0 && !doc.Stop {
		rs.problems.Reportf(document.EmptyRule, doc.Pos, "", "the rule %q does nothing: it has neither do, nor cases, nor stop", doc.Name.Value)
	}
	out := &plan.Rule{Name: doc.Name.Value, Pos: doc.Pos, ContinueOnError: doc.ContinueOnError, Finally: doc.Finally, Stop: doc.Stop, Child: doc.Child, Prunes: doc.Prunes, Former: doc.Former}
	out.Node = analyze.New(analyze.Rule, out.Name, doc.Pos)
	out.Gate = out.Node.Part(analyze.Gate, out.Name, doc.Pos)
	s := forEach(doc, out, newScope(rs.names, out.Gate))
	if s == nil {
		return nil
	}
	out.Locals, s = rs.variables(s.in(out.Node), doc.Variables)
	when(doc, out, s.in(out.Gate))
	rs.done(s, doc, out)
	return out
}

// done compiles what a rule does.
func (rs *rules) done(s *scope, doc *v1alpha1.Rule, out *plan.Rule) {
	if doc.Do != nil && doc.Cases != nil {
		rs.problems.Hintf(doc.Pos, "a rule has one or the other", "the rule %q has do and cases", doc.Name.Value)
	}
	out.Do = rs.actions(s, doc.Do)
	rs.rowNames(doc)
	for i := range doc.Cases {
		out.Cases = append(out.Cases, rs.row(s, &doc.Cases[i]))
	}
	out.OnError = rs.actions(s.withError(doc.Pos), doc.OnError)
	for a := range out.OfErrors() {
		plan.Programs(a, func(p *cel.Program) { out.OnErrorPerItem = out.OnErrorPerItem || ofItem(out, p) })
	}
	if doc.Debounce != nil {
		out.Debounce = debounce(s, doc, out.WhenPerItem)
	}
	if doc.Rate != nil {
		out.Rate = rs.rates.rate(doc, out)
	}
}

// rowNames rejects two rows of one name: tests, traces and coverage tell them apart by it.
func (rs *rules) rowNames(doc *v1alpha1.Rule) {
	seen := map[string]document.Position{}
	for i := range doc.Cases {
		name := doc.Cases[i].Name
		if first, dup := seen[name.Value]; dup {
			rs.problems.Errorf(name.Pos(), "duplicate row %q of the rule %q, first on line %d", name.Value, doc.Name.Value, first.Line)
		} else if name.Set() {
			seen[name.Value] = name.Pos()
		}
	}
}

func (rs *rules) row(s *scope, doc *v1alpha1.Case) plan.Case {
	return plan.Case{Name: doc.Name.Value, Pos: doc.Pos, When: s.typed(doc.When, cel.BoolType), Do: rs.actions(s, doc.Do)}
}

// forEach compiles the list of a rule, if it has one, and returns the scope of
// its items; nil when the list is wrong.
func forEach(doc *v1alpha1.Rule, out *plan.Rule, s *scope) *scope {
	if !doc.ForEach.Set() {
		return s
	}
	program, flow := s.list(doc.ForEach, "forEach")
	if program == nil {
		return nil
	}
	out.ForEach, out.As = program, itemName(doc.As, doc.Pos, s.problems)
	return formed(s.with(out.As, elemType(program.Type()), flow.Elem(), doc.Pos), out.As, formOf(s, program).Item())
}

// when compiles a rule's condition. It is evaluated once, unless it uses a
// variable of the rule or names the item.
func when(doc *v1alpha1.Rule, out *plan.Rule, s *scope) {
	if out.When = s.typed(doc.When.Text, cel.BoolType); out.When == nil {
		return
	}
	out.WhenPerItem = ofItem(out, out.When)
}

// ofItem reports whether an expression uses the item of a rule's list, or a variable of the
// rule, which is computed for each item.
func ofItem(r *plan.Rule, p *cel.Program) bool {
	names := p.Names()
	usesLocals := slices.ContainsFunc(r.Locals, func(v *plan.Variable) bool { return names[v.Name] })
	return r.ForEach != nil && (usesLocals || names[r.As])
}

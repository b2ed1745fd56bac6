package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// conditions finds rules and rows of decision tables that can never be chosen, and
// what a table leaves open.
func conditions(p *policy) {
	for _, r := range p.plan.Rules {
		if r.Child != "" {
			continue // nobody has written it
		}
		if r.When != nil && impossible(r.When) {
			p.report(document.NeverFires, r.When.Pos(), "remove the rule, or set mode: Disabled for the whole policy", fmt.Sprintf("the rule %q never fires: its condition is always false", r.Name))
		}
		t := table{policy: p, rule: r}
		for _, row := range r.Cases {
			t.row(row, row.Pos)
		}
		t.gaps()
	}
}

func impossible(p *cel.Program) bool {
	e := p.Tree().Expr()
	d, known := analyze.DomainOf(p, e)
	return holds(e) == never || known && d.Empty()
}

// table is a decision table, up to a row.
type table struct {
	policy *policy
	rule   *plan.Rule
	// rows are the conjuncts of the rows so far.
	rows  [][]string
	names []string
	// covered are the values that the rows so far choose, as long as all of them
	// compare the same expression.
	covered    analyze.Domain
	open, full bool
	other      bool
}

func (t *table) row(row plan.Case, at document.Position) {
	if t.full {
		t.policy.report(document.UnreachableCase, at, "move it before the row that always matches", "this row is never chosen: a row before it always matches")
		return
	}
	if row.When == nil || holds(row.When.Tree().Expr()) == always {
		t.full = true
		return
	}
	if impossible(row.When) {
		t.policy.report(document.UnreachableCase, row.When.Pos(), "", "this row is never chosen: its condition is always false")
		return
	}
	own := analyze.Conjuncts(row.When)
	for i, earlier := range t.rows {
		if !slices.ContainsFunc(earlier, func(c string) bool { return !slices.Contains(own, c) }) {
			t.policy.report(document.UnreachableCase, row.When.Pos(), "", fmt.Sprintf("this row is never chosen: the row %q matches whenever it does", t.names[i]))
			return
		}
	}
	t.rows, t.names = append(t.rows, own), append(t.names, row.Name)
	t.cover(row)
}

// cover compares the values of a row with those of the rows before it.
func (t *table) cover(row plan.Case) {
	d, ok := analyze.DomainOf(row.When, row.When.Tree().Expr())
	if !ok || t.open && t.covered.Subject != d.Subject {
		t.other = true
		return
	}
	switch both := d.Intersect(t.covered); {
	case t.open && d.Within(t.covered):
		t.policy.report(document.UnreachableCase, row.When.Pos(), "", "this row is never chosen: the rows before it cover all its values of "+d.Subject)
	case t.open && !both.Empty():
		t.policy.report(document.CaseOverlap, row.When.Pos(), "the first row that matches is chosen", fmt.Sprintf("rows before this one also match %s %s", d.Subject, both))
	}
	if t.open {
		d = t.covered.Union(d)
	}
	t.covered, t.open = d, true
}

// gaps reports values that no row matches, of a table whose rows all compare one
// expression with literals.
func (t *table) gaps() {
	if t.full || t.other || !t.open || len(t.rows) < 2 {
		return
	}
	var missing string
	for i := 1; i < len(t.covered.Ranges); i++ {
		missing = analyze.Domain{Ranges: []analyze.Span{{From: t.covered.Ranges[i-1].To + 1, To: t.covered.Ranges[i].From - 1}}}.String()
	}
	last := t.rule.Cases[len(t.rule.Cases)-1].When
	for _, text := range enum(last, t.covered.Of) {
		if !slices.Contains(t.covered.Texts, text) {
			missing = fmt.Sprintf("%q", text)
		}
	}
	if missing != "" {
		t.policy.report(document.CaseGap, t.rule.Pos, "a row without when matches all others", fmt.Sprintf("no row of the rule %q matches %s %s", t.rule.Name, t.covered.Subject, missing))
	}
}

// enum returns the only texts that an expression may give.
func enum(p *cel.Program, e ast.Expr) []string {
	if p == nil {
		return nil
	}
	f := fieldsOf(p)
	a, ok := f.accessOf(e)
	if !ok || f.object(a.of) == nil {
		return nil
	}
	field := f.object(a.of).Fields[strings.TrimPrefix(a.field, ".")]
	if field == nil {
		return nil
	}
	return field.Enum
}

package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Note is a value beside a line of a policy's text.
type Note struct {
	Line int `json:"line"`
	// What says what has the value: param, input, variable, rule, when, item, step or
	// case.
	What string `json:"what"`
	Name string `json:"name"`
	Text string `json:"text"`
	// State is true, false, failed, fired, skipped, delayed or notReached; "" is none of them.
	State string `json:"state,omitempty"`
}

// noter gathers notes.
type noter struct {
	doc   *record.Document
	notes []Note
}

// notes returns what a decision made of each part of a policy, by line.
func notes(p *plan.Policy, d *record.Document) []Note {
	n := noter{doc: d, notes: []Note{}}
	for _, i := range p.ParamInfo {
		n.add(i.Pos, "param", i.Name, explain.Value(value.Plain(i.Value), maxShown), "")
	}
	for _, in := range p.Inputs {
		n.add(in.Pos, "input", in.Name, n.read(in.Source.GVK), "")
	}
	for _, v := range p.Variables {
		n.variable(v)
	}
	for i, r := range p.Rules {
		if i < len(d.Rules) {
			n.rule(r, &d.Rules[i])
		}
	}
	slices.SortStableFunc(n.notes, func(a, b Note) int { return cmp.Compare(a.Line, b.Line) })
	return n.notes
}

func (n *noter) add(at document.Position, what, name, text, state string) {
	n.notes = append(n.notes, Note{Line: at.Line, What: what, Name: name, Text: text, State: state})
}

// read says how many objects of a kind the decision depends on.
func (n *noter) read(kind schema.GVK) string {
	count := 0
	for _, r := range n.doc.Reads {
		if r.APIVersion == kind.APIVersion && r.Kind == kind.Kind {
			count++
		}
	}
	return fmt.Sprintf("read: %d %s", count, kind.Kind)
}

// variable notes the last value of a variable.
func (n *noter) variable(v *plan.Variable) {
	for _, known := range slices.Backward(n.doc.Variables) {
		if known.Name == v.Name {
			n.add(v.Pos, "variable", v.Name, shownOr(known.Value, known.Error), stateOfValue(known.Value, known.Error))
			return
		}
	}
	n.add(v.Pos, "variable", v.Name, "not needed", record.OutcomeNotReached)
}

func (n *noter) rule(r *plan.Rule, d *record.RuleDocument) {
	n.add(r.Pos, "rule", r.Name, outcome(d), d.Outcome)
	if d.When != nil && r.When != nil {
		n.when(r.When.Pos(), d.When, "")
	}
	if r.ForEach != nil {
		n.add(r.ForEach.Pos(), "item", "forEach", ranFor(d.Items), "")
	}
	for i := range d.Items {
		if item := &d.Items[i]; item.When != nil && r.When != nil && i < maxItems {
			n.when(r.When.Pos(), item.When, item.Key)
		}
	}
	for _, v := range r.Locals {
		n.locals(v, d.Items)
	}
	for i := range r.Cases {
		n.row(&r.Cases[i], d.Items)
	}
	n.selections(r.Name, selectsOf(r))
}

// outcome says what became of a rule.
func outcome(d *record.RuleDocument) string {
	if d.Delayed != nil {
		return fmt.Sprintf("%s until %s", record.OutcomeDelayed, d.Delayed.Due.Format(time.RFC3339Nano))
	}
	return strings.TrimSpace(d.Outcome + " " + explain.FirstLine(d.Error))
}

// when notes a condition, and the parts that decided it.
func (n *noter) when(at document.Position, w *record.WhenDocument, item string) {
	n.add(at, "when", item, shownOr(w.Value, w.Error), stateOfValue(w.Value, w.Error))
	for i := range w.Parts {
		part := &w.Parts[i]
		text := fmt.Sprintf("%s is %s", strings.Join(strings.Fields(part.Text), " "), shownOr(part.Value, part.Error))
		n.add(at, "part", item, text, stateOfValue(part.Value, part.Error))
	}
}

// maxItems is how many items of a rule are noted.
const maxItems = 5

func ranFor(items []record.ItemDocument) string {
	ran := 0
	for _, i := range items {
		if i.Ran {
			ran++
		}
	}
	return fmt.Sprintf("ran for %d of %d", ran, len(items))
}

// locals notes the values of a variable of a rule, for the first items.
func (n *noter) locals(v *plan.Variable, items []record.ItemDocument) {
	noted := 0
	for i := range items {
		x, ok := items[i].Variables[v.Name]
		if !ok {
			continue
		}
		if noted++; noted > maxItems {
			n.add(v.Pos, "variable", v.Name, fmt.Sprintf("and more, of %d items", len(items)), "")
			return
		}
		n.add(v.Pos, "variable", strings.TrimPrefix(items[i].Key+" "+v.Name, " "), explain.Value(x, maxShown), stateOfValue(x, ""))
	}
}

// row notes for which items a row of a decision table was chosen.
func (n *noter) row(c *plan.Case, items []record.ItemDocument) {
	if c.When == nil {
		return
	}
	var keys []string
	for i := range items {
		if items[i].Case == c.Name {
			keys = append(keys, cmp.Or(items[i].Key, "it"))
		}
	}
	n.add(c.When.Pos(), "case", c.Name, chosenFor(keys), "")
}

func chosenFor(keys []string) string {
	switch {
	case len(keys) == 0:
		return "not chosen"
	case len(keys) > maxItems:
		return fmt.Sprintf("chosen for %s and %d more", strings.Join(keys[:maxItems], ", "), len(keys)-maxItems)
	}
	return "chosen for " + strings.Join(keys, ", ")
}

// maxShown bounds a value beside the text, in bytes.
const maxShown = 400

func shownOr(v any, failed string) string {
	if failed != "" {
		return "failed: " + explain.FirstLine(failed)
	}
	return explain.Value(v, maxShown)
}

func stateOfValue(v any, failed string) string {
	if failed != "" {
		return record.OutcomeFailed
	}
	if holds, ok := v.(bool); ok {
		return fmt.Sprint(holds)
	}
	return ""
}

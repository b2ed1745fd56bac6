package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

func (w renderer) rules(p *plan.Policy, d *eval.Details) []RuleDocument {
	out := make([]RuleDocument, 0, len(p.Rules))
	reached := d.Rules
	for _, rule := range p.Rules {
		if len(reached) == 0 || reached[0].Rule != rule {
			out = append(out, RuleDocument{Name: rule.Name, Child: rule.Child, Outcome: OutcomeNotReached})
			continue
		}
		out = append(out, w.rule(&reached[0]))
		reached = reached[1:]
	}
	return out
}

func (w renderer) rule(r *eval.RuleDetails) RuleDocument {
	out := RuleDocument{Name: r.Rule.Name, Child: r.Rule.Child, Outcome: OutcomeSkipped, When: w.when(r.When), Error: w.failure(r.Err)}
	switch {
	case r.Failed:
		out.Outcome = OutcomeFailed
	case r.Fired:
		out.Outcome = OutcomeFired
	case r.Delayed != nil:
		out.Outcome = OutcomeDelayed
	}
	if r.Delayed != nil {
		out.Delayed = &DelayDocument{Key: fmt.Sprint(w.plain(r.Delayed.Key)), Items: r.Delayed.Items, Due: r.Delayed.Due.UTC()}
	}
	for i := range r.Items {
		out.Items = append(out.Items, w.item(&r.Items[i]))
	}
	return out
}

func (w renderer) item(i *eval.ItemDetails) ItemDocument {
	out := ItemDocument{Key: i.Key, Case: i.Case, Ran: i.Ran, When: w.when(i.When), Error: w.failure(i.Err)}
	for j := range i.Rows {
		out.Rows = append(out.Rows, *w.when(&i.Rows[j]))
	}
	for _, v := range i.Variables {
		if out.Variables == nil {
			out.Variables = map[string]any{}
		}
		out.Variables[v.Name] = w.value(v.Value)
	}
	return out
}

func (w renderer) when(c *eval.ConditionDetails) *WhenDocument {
	if c == nil {
		return nil
	}
	out := &WhenDocument{Text: c.Program.Source(), Value: w.value(c.Value), Error: w.failure(c.Err)}
	for i := range c.Parts {
		out.Parts = append(out.Parts, *w.when(&c.Parts[i]))
	}
	return out
}

func (w renderer) selections(d *eval.Details) []SelectionDocument {
	out := []SelectionDocument{}
	for i := range d.Rules {
		for _, s := range d.Rules[i].Selections {
			out = append(out, w.selection(d.Rules[i].Rule.Name, &s))
		}
	}
	return out
}

func (w renderer) selection(rule string, s *eval.SelectionDetails) SelectionDocument {
	out := SelectionDocument{Rule: rule, Item: s.Item, Summary: s.Summary, Total: s.Total, Candidates: make([]CandidateDocument, len(s.Candidates))}
	for i, c := range s.Candidates {
		doc := CandidateDocument{Names: map[string]string{}, DroppedBy: c.Excluded, Taken: c.Won && s.Take, Why: c.Why, Score: c.Score, Rank: c.Rank}
		for n, level := range s.Levels {
			doc.Names[level] = nameOf(c.Values[n])
		}
		for _, points := range c.Points {
			if doc.Points == nil {
				doc.Points = map[string]int64{}
			}
			doc.Points[points.Step] += points.Points
		}
		if c.Won && (out.Winner == nil || c.Rank < s.Candidates[*out.Winner].Rank) {
			out.Winner = &i
		}
		out.Candidates[i] = doc
	}
	return out
}

func (w renderer) lists(list []eval.AboutDetails) (out []ListDocument) {
	for _, a := range list {
		doc := ListDocument{List: a.List, Included: a.Included, Elsewhere: a.Elsewhere, When: w.when(a.When)}
		if a.Object != nil {
			name := ObjectOf(a.Object.ID())
			doc.Object = &name
		}
		out = append(out, doc)
	}
	return out
}

// nameOf returns what names a part of a candidate: its name, or else the first of
// its fields that is called some kind of name.
func nameOf(v value.Value) string {
	if name := value.NameOf(v); name != "" {
		return name
	}
	fields, _ := value.Plain(v).(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if name, ok := fields[field].(string); ok && strings.HasSuffix(field, "Name") {
			return name
		}
	}
	return ""
}

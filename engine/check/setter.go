package check

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// setter is a policy as far as it sets one field of its primary object.
type setter struct {
	policy *plan.Policy
	// about is what the selector asks of the field, others what it asks of other labels.
	about, others *selector.Selector
	label         string
	steps         []step
}

// step sets the field if it has one of some texts; without any in each case. Steps of a
// row exclude each other.
type step struct {
	rule *plan.Rule
	row  bool
	any  bool
	of   []string
	// to is set unless sets is false: a row may do something else.
	sets bool
	to   string
}

const labelPath = "metadata.labels."

// newSetter returns what a policy does with a field; nil if more than the field decides
// about that.
func newSetter(p *plan.Policy, path string) *setter {
	s := &setter{policy: p, about: selector.Everything, others: p.Primary.Selector}
	if label, ok := strings.CutPrefix(path, labelPath); ok {
		s.label = label
		s.about, s.others = p.Primary.Selector.Split(label)
	}
	sets := map[plan.Action]string{}
	for _, w := range graph.Writes(p) {
		text, ok := constantOf(w, path)
		switch {
		case ok:
			sets[w.Action] = text
		case w.GVK == p.Primary.GVK && slices.ContainsFunc(w.Fields, func(f string) bool { return narrower(f, path) != "" || !graph.Definite(f) }):
			return nil
		}
	}
	for _, r := range p.Rules {
		if !s.add(r, path, sets) {
			return nil
		}
	}
	return s
}

// constantOf returns the text that a write sets a field of the primary object to.
func constantOf(w graph.Write, path string) (string, bool) {
	_, merges := w.Action.(*plan.Merge)
	text, ok := value.Str(w.Values[path])
	return text, ok && merges && w.Own
}

// add adds the steps of a rule; false if something else decides about them.
func (s *setter) add(r *plan.Rule, path string, sets map[plan.Action]string) bool {
	acts := slices.ContainsFunc(slices.Collect(r.Actions()), func(a plan.Action) bool { _, ok := sets[a]; return ok })
	if !acts {
		return !r.Stop
	}
	if r.ForEach != nil || r.Debounce != nil || r.Stop || r.Leaving || len(r.OnError) > 0 {
		return false
	}
	rows := r.Cases
	if len(rows) == 0 {
		rows = []plan.Case{{Do: r.Do}}
	}
	for i, row := range rows {
		one := step{rule: r, row: i > 0, any: true}
		for _, when := range []*cel.Program{r.When, row.When} {
			if when != nil && !one.asks(when, path) {
				return false
			}
		}
		for _, a := range row.Do {
			if text, ok := sets[a]; ok {
				one.sets, one.to = true, text
			}
		}
		s.steps = append(s.steps, one)
	}
	return true
}

// asks takes in a condition; false if it is about more than the field.
func (s *step) asks(when *cel.Program, path string) bool {
	d, ok := analyze.DomainOf(when, when.Tree().Expr())
	if !ok || len(d.Texts) == 0 || slices.Contains(d.Texts, "") {
		return false
	}
	root, fields, ok := fieldsOf(when).chain(d.Of)
	if !ok || root != "object" || strings.Join(fields, ".") != path {
		return false
	}
	if !s.any {
		d.Texts = slices.DeleteFunc(d.Texts, func(text string) bool { return !slices.Contains(s.of, text) })
	}
	s.any, s.of = false, d.Texts
	return true
}

// texts are the values that are asked for or set.
func (s *setter) texts() (out []string) {
	for _, one := range s.steps {
		out = append(out, one.of...)
		if one.sets {
			out = append(out, one.to)
		}
	}
	return out
}

// move returns what a decision makes of a value; false if nothing. A step sees what the
// steps before it have set.
func (s *setter) move(from string) (move, bool) {
	if s.label != "" && !s.about.Matches(value.FromMap(map[string]value.Value{s.label: types.String(from)})) {
		return move{}, false
	}
	out, taken := move{policy: s.policy, from: from, to: from}, false
	for _, one := range s.steps {
		taken = taken && one.row
		if taken || !one.any && !slices.Contains(one.of, out.to) {
			continue
		}
		taken = true
		if one.sets && one.to != out.to {
			out.to, out.rule = one.to, one.rule
		}
	}
	return out, out.to != from
}

// meets reports whether the policy may decide about the same objects as those that came
// before, but for the field.
func (s *setter) meets(came []move) bool {
	return !slices.ContainsFunc(came, func(m move) bool {
		if m.policy == s.policy {
			return false
		}
		_, others := m.policy.Primary.Selector.Split(s.label)
		return s.others.Excludes(others) || graph.Apart(m.policy, s.policy)
	})
}

package mutation

import (
	"fmt"

	"github.com/edict-dev/edict/engine/document"
)

// rules adds the mutants of rules and children: one is left out, a row of a decision
// table is left out or changes places with the next, an action or a step of a
// selection is left out, a mark is left out.
func (m *maker) rules(spec *document.Node) {
	for _, section := range []string{"rules", "children"} {
		for _, r := range spec.Get(section).Items() {
			m.add(r.Pos, fmt.Sprintf("%q of %s removed", nameOf(r), section), r, nil)
			m.rule(r)
		}
	}
}

func (m *maker) rule(r *document.Node) {
	for _, mark := range []string{"stop", "finally", "continueOnError", "debounce", "when", "ready", "after", "once", "onError"} {
		if v := r.Get(mark); v != nil {
			m.add(v.Pos, mark+" removed", v, nil)
		}
	}
	rows := r.Get("cases").Items()
	for i, row := range rows {
		m.add(row.Pos, fmt.Sprintf("row %q removed", nameOf(row)), row, nil)
		if when := row.Get("when"); when != nil {
			m.add(when.Pos, "when of a row removed", when, nil)
		}
		if i+1 < len(rows) {
			m.swap(r.Get("cases"), i, "rows change places")
		}
		m.actions(row.Get("do"))
	}
	m.actions(r.Get("do"))
}

func (m *maker) actions(do *document.Node) {
	for _, a := range do.Items() {
		if len(do.Items()) > 1 && len(a.Keys) > 0 {
			m.add(a.Pos, "action "+a.Keys[0].Text+" removed", a, nil)
		}
		s := a.Get("select")
		steps := s.Get("pipeline")
		for i, step := range steps.Items() {
			m.add(step.Pos, fmt.Sprintf("step %d removed", i+1), step, nil)
			if i+1 < len(steps.Items()) {
				m.swap(steps, i, "steps change places")
			}
		}
		for _, part := range []string{"orderBy", "take", "claim", "together", "otherwise"} {
			if v := s.Get(part); v != nil {
				m.add(v.Pos, part+" removed", v, nil)
			}
		}
		m.take(s.Get("take"))
		m.actions(s.Get("together"))
		m.actions(s.Get("then"))
		m.actions(s.Get("otherwise"))
	}
}

// take adds the mutants of how many candidates win: a bound or the weight is left out,
// and what is too large stops, or does not.
func (m *maker) take(t *document.Node) {
	for _, part := range []string{"weight", "budget", "max"} {
		if v := t.Get(part); v != nil {
			m.add(v.Pos, part+" of take removed", v, nil)
		}
	}
	if v := t.Get("skipTooLarge"); v != nil {
		m.add(v.Pos, "skipTooLarge removed", v, nil)
	}
}

// swap lets an item of a list change places with the next.
func (m *maker) swap(list *document.Node, i int, change string) {
	by := *list
	by.Values = append([]*document.Node(nil), list.Values...)
	by.Values[i], by.Values[i+1] = by.Values[i+1], by.Values[i]
	m.add(list.Values[i].Pos, change, list, &by)
}

func nameOf(n *document.Node) string {
	if name := n.Get("name"); name != nil {
		return name.Text
	}
	return ""
}

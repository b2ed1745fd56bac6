package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// turns finds rules that set one field of the primary object to some texts in turns: each
// is what the next one asks for, in its condition, in a row of its cases or in the
// selector of its policy. Only rules that ask for nothing else are looked at, so that
// nothing else ends it.
func turns(b *source.Bundle, problems *document.Problems, related Related) {
	for _, f := range fieldsInTurn(b) {
		circle := f.circle()
		if len(circle) == 0 || conflicting(circle, problems) {
			continue
		}
		said := make([]string, len(circle))
		for i, m := range circle {
			said[i] = fmt.Sprintf("the rule %q of %s (from %q to %q)", m.rule.Name, m.policy.Name, m.from, m.to)
		}
		found := addFinding(b, problems, document.FeedbackLoop, circle[0].rule.Pos, "let one of the values be the last: nothing may set it back",
			fmt.Sprintf("a loop: %s of %s is set in turns by %s", f.path, f.kind.Kind, strings.Join(said, ", ")))
		for _, m := range circle[1:] {
			if m.rule != circle[0].rule {
				related[found] = append(related[found], writer(m.policy, m.rule))
			}
		}
	}
}

// conflicting reports whether rules of a circle were found to write one field anyway.
func conflicting(circle []move, problems *document.Problems) bool {
	return slices.ContainsFunc(problems.List(), func(p document.Problem) bool {
		return p.Code == document.ConflictingWriters && slices.ContainsFunc(circle, func(m move) bool { return m.rule.Pos == p.Position })
	})
}

// turn is a field of the primary objects of a kind that rules set to texts.
type turn struct {
	kind     schema.GVK
	path     string
	policies []*setter
}

// move is what a policy does to an object with a value of the field.
type move struct {
	policy   *plan.Policy
	rule     *plan.Rule
	from, to string
}

// fieldsInTurn returns the fields that rules set, in the order of the policies.
func fieldsInTurn(b *source.Bundle) (out []*turn) {
	for _, p := range b.Policies {
		if p.Mode != plan.Enforce || p.Primary.Follows {
			continue
		}
		for _, path := range setBy(p) {
			s := newSetter(p, path)
			if s == nil {
				continue
			}
			at := slices.IndexFunc(out, func(t *turn) bool { return t.kind == p.Primary.GVK && t.path == path })
			if at < 0 {
				at, out = len(out), append(out, &turn{kind: p.Primary.GVK, path: path})
			}
			out[at].policies = append(out[at].policies, s)
		}
	}
	return out
}

// setBy returns the fields of the primary object that a policy sets to texts that are
// written out.
func setBy(p *plan.Policy) (out []string) {
	for _, w := range graph.Writes(p) {
		for _, field := range w.Fields {
			if _, ok := constantOf(w, field); ok && !slices.Contains(out, field) {
				out = append(out, field)
			}
		}
	}
	return out
}

// circle returns moves that lead from a value back to itself; none if all values come to
// rest.
func (t *turn) circle() []move {
	for _, from := range t.values() {
		if out := t.back(from, []move{{to: from}}); out != nil {
			return out
		}
	}
	return nil
}

func (t *turn) values() (out []string) {
	for _, s := range t.policies {
		for _, text := range s.texts() {
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	slices.Sort(out)
	return out
}

// back follows the moves of all policies until one leads to the value that the first
// began with.
func (t *turn) back(first string, came []move) []move {
	at := came[len(came)-1].to
	for _, s := range t.policies {
		m, ok := s.move(at)
		if !ok || !s.meets(came[1:]) {
			continue
		}
		if m.to == first {
			return append(slices.Clone(came[1:]), m)
		}
		if slices.ContainsFunc(came, func(c move) bool { return c.to == m.to }) {
			continue
		}
		if out := t.back(first, append(slices.Clone(came), m)); out != nil {
			return out
		}
	}
	return nil
}

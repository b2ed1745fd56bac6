package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// Lint returns warnings about what the queries of a policy never reach: a module
// whose package none of them asks, and rules that nothing uses. Tests are left
// out.
func (l *Library) Lint(queries ...*Query) []document.Problem {
	problems := &document.Problems{}
	used := map[*ruleOutline]bool{}
	for _, q := range queries {
		for _, rule := range l.reachable(q.name) {
			used[rule] = true
		}
	}
	for _, p := range l.outline.Packages {
		if !l.sources[p.Module].module.IsTest() {
			l.lintModule(p, used, queries, problems)
		}
	}
	return problems.List()
}

func (l *Library) lintModule(p packageOutline, used map[*ruleOutline]bool, queries []*Query, problems *document.Problems) {
	var rules []*ruleOutline
	for i := range l.outline.Rules {
		if l.outline.Rules[i].Module == p.Module {
			rules = append(rules, &l.outline.Rules[i])
		}
	}
	if len(rules) > 0 && !slices.ContainsFunc(rules, func(r *ruleOutline) bool { return used[r] }) {
		hint := ""
		if len(queries) > 0 {
			hint = "the policy asks " + queries[0].text
		}
		problems.Add(l.unused(p.At, fmt.Sprintf("no query uses the package %s", p.Name), hint))
		return
	}
	for _, rule := range rules {
		if !used[rule] && !rule.isTest() {
			problems.Add(l.unused(rule.At, fmt.Sprintf("nothing uses the rule %s", rule.Short), ""))
		}
	}
}

func (l *Library) unused(at document.Position, message, hint string) document.Problem {
	out := l.problem(at, document.Warning, message, hint)
	out.Code = document.UnusedRego
	return out
}

// InputRef is a place where a module reads the input.
type InputRef struct {
	// Path are the names of the fields from the input on, as far as the module
	// names them; none when it takes the input as a whole.
	Path []string
	// At is where it is read, Source the text of that line.
	At     document.Position
	Source string
}

// InputRefs returns every read of the input by the rules that a query needs, in
// the order of the files.
func (l *Library) InputRefs(q *Query) []InputRef {
	var refs []InputRef
	for _, rule := range l.reachable(q.name) {
		for _, r := range rule.Reads {
			at, line := l.at(r.At)
			refs = append(refs, InputRef{Path: r.Path, At: at, Source: line})
		}
	}
	return refs
}

// CheckInput warns about reads of fields that the input of a query does not
// have.
func (l *Library) CheckInput(q *Query, input *schema.Type) []document.Problem {
	problems := &document.Problems{}
	for _, ref := range l.InputRefs(q) {
		t := input
		for i, name := range ref.Path {
			field := t.Field(name)
			if field == nil {
				problems.Add(noField(ref, i, t))
				break
			}
			t = field
		}
	}
	return problems.List()
}

func noField(ref InputRef, i int, t *schema.Type) document.Problem {
	where := strings.Join(append([]string{"input"}, ref.Path[:i]...), ".")
	return document.Problem{
		Position: ref.At, Severity: document.Warning, Code: document.RegoInput, Source: ref.Source,
		Message: fmt.Sprintf("%s has no field %q", where, ref.Path[i]),
		Hint:    document.DidYouMean(ref.Path[i], t.FieldNames()),
	}
}

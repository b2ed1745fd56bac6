package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// Lint gives warnings about what the queries of a policy never reach: a module
// whose package none of them asks, and rules that nothing uses. Tests are left
// out.
func (l *Library) Lint(queries ...*Query) []document.Problem {
	problems := &document.Problems{}
	used := map[*ast.Rule]bool{}
	for _, q := range queries {
		for _, rule := range l.reachable(q.ref) {
			used[rule] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.compiler.Modules)) {
		if !l.sources[name].module.IsTest() {
			l.lintModule(l.compiler.Modules[name], used, queries, problems)
		}
	}
	return problems.List()
}

func (l *Library) lintModule(m *ast.Module, used map[*ast.Rule]bool, queries []*Query, problems *document.Problems) {
	if len(m.Rules) > 0 && !slices.ContainsFunc(m.Rules, func(r *ast.Rule) bool { return used[r] }) {
		message := fmt.Sprintf("no query uses the package %s", packageName(m))
		hint := ""
		if len(queries) > 0 {
			hint = "the policy asks " + queries[0].text
		}
		problems.Add(l.sources.problem(m.Package.Location, document.Warning, message, hint))
		return
	}
	for _, rule := range m.Rules {
		if !used[rule] && !isTest(rule) {
			message := fmt.Sprintf("nothing uses the rule %s", rule.Head.Ref())
			problems.Add(l.sources.problem(rule.Location, document.Warning, message, ""))
		}
	}
}

func packageName(m *ast.Module) string { return strings.TrimPrefix(m.Package.Path.String(), "data.") }

func isTest(rule *ast.Rule) bool { return strings.HasPrefix(rule.Head.Ref().String(), "test_") }

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
		Position: ref.At, Severity: document.Warning, Source: ref.Source,
		Message: fmt.Sprintf("%s has no field %q", where, ref.Path[i]),
		Hint:    document.DidYouMean(ref.Path[i], t.FieldNames()),
	}
}

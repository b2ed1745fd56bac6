package rego

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
)

// Query asks for the value of one rule. It is immutable and safe for concurrent
// use.
type Query struct {
	library *Library
	text    string
	ref     ast.Ref
	at      document.Position
	// body is the query as the evaluator runs it: result = data.a.rule.
	body     ast.Body
	compiled ast.QueryCompiler
}

// String gives the query as it was written.
func (q *Query) String() string { return q.text }

// answer is the variable that holds the result of a query.
const answer = ast.Var("result")

// Query prepares a query such as data.a.b.rule, which names a rule of the
// library. at is its place in the policy.
func (l *Library) Query(text string, at document.Position) (*Query, *document.Problem) {
	problem := func(message, hint string) (*Query, *document.Problem) {
		return nil, &document.Problem{Position: at, Severity: document.Error, Message: message, Hint: hint}
	}
	ref, err := parseQuery(text)
	if err != nil {
		return problem(err.Error(), "such as data.a.b.rule")
	}
	rules := l.compiler.GetRulesExact(ref)
	switch {
	case len(rules) == 0:
		return problem(fmt.Sprintf("no rule is called %s", text), document.DidYouMean(text, l.entries()))
	case len(rules[0].Head.Args) > 0:
		return problem(fmt.Sprintf("%s is a function", text), "ask for a rule that calls it")
	}
	q := &Query{library: l, text: text, ref: ref, at: at, compiled: l.compiler.QueryCompiler()}
	body := ast.NewBody(ast.Equality.Expr(ast.NewTerm(answer), ast.NewTerm(ref)))
	if q.body, err = q.compiled.Compile(body); err != nil {
		return problem(fmt.Sprintf("the query cannot be compiled: %v", err), "")
	}
	return q, nil
}

// parseQuery reads a query; the limit keeps what the parser does short.
func parseQuery(text string) (ref ast.Ref, err error) {
	const longest = 256
	if len(text) <= longest {
		ref, err = ast.ParseRef(text)
	}
	if len(text) > longest || err != nil || !ref.HasPrefix(ast.DefaultRootRef) || !ref.IsGround() || len(ref) < 2 {
		return nil, fmt.Errorf("a query names one rule, this is %.64q", text)
	}
	return ref, nil
}

// entries gives what can be queried.
func (l *Library) entries() []string {
	var out []string
	for _, m := range l.compiler.Modules {
		for _, rule := range m.Rules {
			if len(rule.Head.Args) == 0 {
				out = append(out, rule.Ref().GroundPrefix().String())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

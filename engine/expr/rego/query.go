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
	// name is the text as the outline has it.
	name string
	at   document.Position
}

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
	name := ref.String()
	is := slices.IndexFunc(l.outline.Rules, func(r ruleOutline) bool { return r.Name == name })
	switch {
	case is < 0:
		return problem(fmt.Sprintf("no rule is called %s", text), document.DidYouMean(text, l.entries()))
	case l.outline.Rules[is].Function:
		return problem(fmt.Sprintf("%s is a function", text), "ask for a rule that calls it")
	}
	return &Query{library: l, text: text, name: name, at: at}, nil
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

// entries returns what can be queried.
func (l *Library) entries() []string {
	var out []string
	for _, r := range l.outline.Rules {
		if !r.Function {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

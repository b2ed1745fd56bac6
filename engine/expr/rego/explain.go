package rego

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// report turns OPA's errors into problems at their places.
func (p *program) report(err error) {
	all, ok := errors.AsType[ast.Errors](err)
	if one, single := errors.AsType[*ast.Error](err); !ok && single {
		all = ast.Errors{one}
	}
	for i, e := range all {
		if e.Message == "error limit reached" || i > 0 && e.Code == ast.ParseErr && all[i-1].Code == ast.ParseErr {
			continue // what does not parse is said once
		}
		message, hint := p.explain(e)
		p.problems.Add(p.sources.problem(e.Location, message, hint))
	}
	if len(all) == 0 && err != nil && !ok {
		p.problems.Errorf(document.Position{}, "Rego cannot read this: %v", err)
	}
}

var (
	undefinedFunction = regexp.MustCompile(`^undefined function (\S+)$`)
	unsafeVar         = regexp.MustCompile(`^var (\S+) is unsafe$`)
	unusedVar         = regexp.MustCompile(`^(?:assigned|declared) var (\S+) unused$`)
	unusedArgument    = regexp.MustCompile(`^unused argument ([^.\s]+)`)
	recursive         = regexp.MustCompile(`^rule (\S+) is recursive: (.*)$`)
)

// explain says in a person's words what OPA found, and how to mend it.
func (p *program) explain(e *ast.Error) (message, hint string) {
	if m := undefinedFunction.FindStringSubmatch(e.Message); m != nil {
		return p.noFunction(m[1])
	}
	if m := unsafeVar.FindStringSubmatch(e.Message); m != nil {
		return fmt.Sprintf("%q has no value here", m[1]), p.noValue(m[1])
	}
	if m := unusedVar.FindStringSubmatch(e.Message); m != nil {
		return fmt.Sprintf("the variable %q is never used", m[1]), "remove it, or call it _"
	}
	if m := unusedArgument.FindStringSubmatch(e.Message); m != nil {
		return fmt.Sprintf("the argument %q is never used", m[1]), "call it _"
	}
	if m := recursive.FindStringSubmatch(e.Message); m != nil {
		return fmt.Sprintf("%s uses itself: %s", m[1], m[2]), "a rule cannot use itself, not even through others"
	}
	message = p.detailed(e)
	switch {
	case e.Code == ast.ParseErr:
		return "not valid Rego: " + message, parseHint(e.Message)
	case strings.HasPrefix(e.Message, "conflicting rules"):
		return message, "a function, a value and a set cannot share a name"
	case strings.Contains(e.Message, "deprecated built-in"):
		return message, "use what replaces it"
	}
	return message, ""
}

// detailed adds what OPA knows of the types.
func (p *program) detailed(e *ast.Error) string {
	message := strings.ReplaceAll(e.Message, "\n", " ")
	if e.Code != ast.TypeErr || e.Details == nil {
		return message
	}
	var lines []string
	for _, line := range e.Details.Lines() {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	const longest = 512 // a type may be as long as the module
	return value.Cut(message+": "+strings.Join(lines, ", "), longest)
}

func parseHint(message string) string {
	switch {
	case strings.Contains(message, "`if` keyword is required"):
		return "write: name if { ... }"
	case strings.Contains(message, "`contains` keyword is required"):
		return "write: name contains item if { ... }"
	case strings.Contains(message, "illegal token"):
		return "a text stands in double quotes"
	case strings.Contains(message, "package expected"), message == "empty module":
		return "begin with: package a.name"
	}
	return ""
}

func (p *program) noFunction(name string) (message, hint string) {
	if _, exists := ast.BuiltinMap[name]; exists {
		return fmt.Sprintf("%s is not allowed in a policy", name), refusal(name)
	}
	return fmt.Sprintf("no function is called %q", name), document.DidYouMean(name, slices.Concat(Functions(), p.names))
}

func (p *program) noValue(name string) string {
	if mean := document.DidYouMean(name, slices.Concat(p.names, []string{"input", "data"})); mean != "" {
		return mean
	}
	return "it is no rule of this package, and nothing sets it before"
}

// ruleNames returns the names of a module's rules, short and with its package.
func ruleNames(m *ast.Module) []string {
	var names []string
	for _, r := range m.Rules {
		name := r.Head.Ref().String()
		names = append(names, name, m.Package.Path.String()+"."+name)
	}
	return names
}

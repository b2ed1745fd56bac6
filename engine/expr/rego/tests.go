package rego

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// TestResult is the outcome of one test of a Rego module.
type TestResult struct {
	// Name is the test's name with its package: a.b.test_c.
	Name string
	// Location is where the test stands.
	Location document.Position
	Pass     bool
	// Failure says why it did not pass: file:line:col and the line that does not
	// hold, or the error.
	Failure  string
	Duration time.Duration
}

// RunTests runs the rules named test_... of the modules whose names end in
// _test.rego, in the order of the files. Tests run like queries: with the same
// functions and limits, so that what passes here also works in a policy. When
// the modules do not compile, the problems say why and nothing runs.
func RunTests(ctx context.Context, in Evaluator, modules []Module) ([]TestResult, []document.Problem) {
	library, problems, _ := Compile(in, modules)
	if library == nil {
		return nil, problems
	}
	var results []TestResult
	seen := map[string]bool{}
	for i := range library.outline.Rules {
		rule := &library.outline.Rules[i]
		if rule.isTest() && !rule.Function && !seen[rule.Name] && library.sources[rule.Module].module.IsTest() {
			seen[rule.Name] = true
			results = append(results, library.runTest(ctx, rule))
		}
	}
	return results, problems
}

func (l *Library) runTest(ctx context.Context, rule *ruleOutline) TestResult {
	at, _ := l.at(rule.At)
	start := time.Now()
	failure := l.try(ctx, rule, at)
	return TestResult{Name: strings.TrimPrefix(rule.Name, "data."), Location: at, Failure: failure, Pass: failure == "", Duration: time.Since(start)}
}

// try returns why a test does not pass, "" when it does.
func (l *Library) try(ctx context.Context, rule *ruleOutline, at document.Position) string {
	q := &Query{library: l, text: rule.Name, name: rule.Name, at: at}
	a, err := q.ask(ctx, question{text: q.name, file: rule.Module, now: time.Unix(0, 0)}, value.Null)
	switch {
	case err != nil:
		return q.fail(document.Position{}, err).Error()
	case a.err != nil && !errors.Is(a.err, ErrUndefined):
		return q.fail(a.at, a.err).Error()
	case a.err == nil && value.IsTrue(a.value):
		return ""
	case a.unmet == (document.Position{}):
		return fmt.Sprintf("%s: %s is not true", at, q.text)
	}
	place, line := l.at(a.unmet)
	return fmt.Sprintf("%s: does not hold: %s", place, strings.TrimSpace(line))
}

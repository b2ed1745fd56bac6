package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/document"
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
func RunTests(ctx context.Context, modules []Module) ([]TestResult, []document.Problem) {
	library, problems := Compile(modules)
	if library == nil {
		return nil, problems
	}
	var results []TestResult
	for _, rule := range library.tests() {
		results = append(results, library.runTest(ctx, rule))
	}
	return results, problems
}

// tests gives the tests, one rule for each name.
func (l *Library) tests() []*ast.Rule {
	var rules []*ast.Rule
	for name, m := range l.compiler.Modules {
		if !l.sources[name].module.IsTest() {
			continue
		}
		for _, rule := range m.Rules {
			if isTest(rule) && len(rule.Head.Args) == 0 {
				rules = append(rules, rule)
			}
		}
	}
	slices.SortFunc(rules, func(a, b *ast.Rule) int { return a.Location.Compare(b.Location) })
	return slices.CompactFunc(rules, func(a, b *ast.Rule) bool { return a.Ref().Equal(b.Ref()) })
}

func (l *Library) runTest(ctx context.Context, rule *ast.Rule) TestResult {
	name := rule.Ref().GroundPrefix().String()
	result := TestResult{Name: strings.TrimPrefix(name, "data."), Location: l.sources.at(rule.Location)}
	start := time.Now()
	result.Failure = l.try(ctx, name, rule, result.Location)
	result.Duration = time.Since(start)
	result.Pass = result.Failure == ""
	return result
}

// try gives why a test does not pass, "" when it does.
func (l *Library) try(ctx context.Context, name string, rule *ast.Rule, at document.Position) string {
	q, problem := l.Query(name, at)
	if problem != nil {
		return problem.Error()
	}
	if err := wait(ctx); err != nil {
		return err.Error()
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	failed := &lastFailure{file: rule.Location.File}
	out, err := q.run(&limiter{ctx: ctx}, time.Unix(0, 0), ast.NullTerm(), failed)
	switch {
	case err == nil && ast.Boolean(true).Equal(out.Value):
		return ""
	case err != nil && !errors.Is(err, ErrUndefined):
		return err.Error()
	case failed.at == nil:
		return fmt.Sprintf("%s: %s is not true", at, name)
	}
	p := l.sources.problem(failed.at, document.Error, "", "")
	return fmt.Sprintf("%s: does not hold: %s", p.Position, strings.TrimSpace(p.Source))
}

// lastFailure follows a test and keeps the expression of the test's file that
// did not hold last.
type lastFailure struct {
	file string
	at   *ast.Location
}

var _ topdown.QueryTracer = (*lastFailure)(nil)

// Enabled implements topdown.QueryTracer.
func (*lastFailure) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*lastFailure) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (f *lastFailure) TraceEvent(e topdown.Event) {
	if e.Op == topdown.FailOp && e.Location != nil && e.Location.File == f.file {
		f.at = e.Location
	}
}

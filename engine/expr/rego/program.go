package rego

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/document"
)

// maxProblems is how many problems of one kind OPA's compiler looks for.
const maxProblems = 20

// program is modules as OPA compiles them. It is safe for concurrent use.
type program struct {
	compiler *ast.Compiler
	sources  sources
	// names are the rules of all modules, short and with their packages, for
	// hints.
	names []string
	// nesting is what has been counted in the modules so far.
	nesting nesting
	// store holds no data; the evaluator asks for one.
	store    storage.Store
	problems document.Problems

	mu       sync.Mutex
	prepared map[string]*prepared
}

// prepared is a query as the evaluator runs it: result = data.a.rule.
type prepared struct {
	body     ast.Body
	compiled ast.QueryCompiler
}

// compile compiles modules that refer to each other. The places of the problems
// are lines and columns of the modules' texts.
func compile(modules []Module) (p *program) {
	p = &program{sources: sources{}, store: inmem.New(), prepared: map[string]*prepared{}}
	defer func() { // OPA's compiler is written for texts of its own users
		if r := recover(); r != nil {
			p.problems.Errorf(document.Position{}, "Rego cannot compile this: %v", r)
		}
	}()
	parsed := p.parse(modules)
	if !p.problems.HasErrors() {
		p.checkTypes(parsed)
	}
	if p.problems.HasErrors() {
		return p
	}
	p.compiler = ast.NewCompiler().WithCapabilities(capabilities).WithStrict(true).
		WithDefaultRegoVersion(ast.RegoV1).SetErrorLimit(maxProblems)
	p.compiler.Compile(parsed)
	p.report(p.compiler.Errors)
	if !p.problems.HasErrors() {
		p.checkRefs()
	}
	return p
}

// parse reads the modules on their own.
func (p *program) parse(modules []Module) map[string]*ast.Module {
	parsed := map[string]*ast.Module{}
	count := 0
	for _, m := range modules {
		p.sources[m.Name] = newSource(Module{Name: m.Name, Text: m.Text})
		one, err := ast.ParseModuleWithOpts(m.Name, m.Text, ast.ParserOptions{Capabilities: capabilities, RegoVersion: ast.RegoV1})
		if err != nil || one == nil {
			p.report(err)
			continue
		}
		p.names = append(p.names, ruleNames(one)...)
		if p.checkDepth(one) {
			p.checkNesting(one)
		}
		p.checkCalls(one)
		parsed[m.Name] = one
		count += len(one.Rules)
	}
	if count > maxRules {
		p.problems.Errorf(document.Position{}, "the modules have %d rules, at most %d are read", count, maxRules)
	}
	return parsed
}

// answerVar is the variable that holds the result of a query.
const answerVar = ast.Var("result")

// prepare compiles a query, once.
func (p *program) prepare(text string) (*prepared, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.prepared[text]; q != nil {
		return q, nil
	}
	if p.problems.HasErrors() {
		return nil, errors.New("the modules do not compile")
	}
	ref, err := ast.ParseRef(text)
	if err != nil {
		return nil, fmt.Errorf("the query cannot be read: %w", err)
	}
	q := &prepared{compiled: p.compiler.QueryCompiler()}
	q.body, err = q.compiled.Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answerVar), ast.NewTerm(ref))))
	if err != nil {
		return nil, fmt.Errorf("the query cannot be compiled: %w", err)
	}
	p.prepared[text] = q
	return q, nil
}

// run evaluates a query, and returns the one result there is. An error of a
// function is an error here, where Rego would go on as if the expression had
// not held: a decision must not be taken because something could not be
// computed.
func (p *program) run(q *prepared, l *limiter, now time.Time, in *ast.Term, tracers ...topdown.QueryTracer) (out *ast.Term, err error) {
	defer func() { // a bug of the evaluator fails the item, not the process
		if r := recover(); r != nil {
			out, err = nil, errors.New("the evaluator of Rego failed")
		}
	}()
	txn, err := p.store.NewTransaction(l.ctx)
	if err != nil {
		return nil, err
	}
	defer p.store.Abort(l.ctx, txn)
	run := topdown.NewQuery(q.body).
		WithCompiler(p.compiler).WithQueryCompiler(q.compiled).
		WithStore(p.store).WithTransaction(txn).
		WithStrictBuiltinErrors(true).
		WithCancel(l).WithInput(in).WithTime(now)
	for _, t := range tracers {
		run = run.WithQueryTracer(t)
	}
	err = run.Iter(l.ctx, func(r topdown.QueryResult) error {
		if out == nil {
			out = r[answerVar]
		}
		return nil
	})
	switch {
	case l.why != nil:
		return nil, l.why
	case err == nil && out == nil:
		return nil, ErrUndefined
	}
	return out, err
}

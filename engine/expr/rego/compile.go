package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/edict-dev/edict/engine/document"
)

// maxProblems is how many problems of one kind OPA's compiler looks for.
const maxProblems = 20

// Library is what the modules of a policy compile to. It is immutable and safe
// for concurrent use.
type Library struct {
	compiler *ast.Compiler
	sources  sources
	// names are the rules of all modules, short and with their packages, for
	// hints.
	names []string
	// store holds no data; the evaluator asks for one.
	store storage.Store
}

// Compile checks modules that refer to each other and makes a library of
// them. When a problem is an error, there is no library.
func Compile(modules []Module) (*Library, []document.Problem) {
	problems := &document.Problems{}
	l := compile(modules, problems)
	if problems.HasErrors() {
		return nil, problems.List()
	}
	return l, problems.List()
}

func compile(modules []Module, problems *document.Problems) *Library {
	l := &Library{sources: sources{}, store: inmem.New()}
	defer func() { // OPA's compiler is written for texts of its own users
		if r := recover(); r != nil {
			problems.Errorf(l.first(modules), "Rego cannot compile this: %v", r)
		}
	}()
	parsed := l.parse(modules, problems)
	if problems.HasErrors() {
		return nil
	}
	l.compiler = newCompiler()
	l.compiler.Compile(parsed)
	l.report(l.compiler.Errors, problems)
	if problems.HasErrors() {
		return nil
	}
	l.checkRefs(problems)
	l.compiler = boundedCompiler(parsed)
	return l
}

func (l *Library) first(modules []Module) document.Position {
	if len(modules) == 0 {
		return document.Position{}
	}
	return newSource(modules[0]).start()
}

func newCompiler() *ast.Compiler {
	return ast.NewCompiler().WithCapabilities(capabilities).WithStrict(true).
		WithDefaultRegoVersion(ast.RegoV1).SetErrorLimit(maxProblems).
		WithStageAfterID(ast.StageCheckRecursion, spreadStage)
}

// boundedCompiler compiles once more modules without a mistake, to what the
// evaluator runs. It leaves a == b the function that it is, whose arguments can
// be weighed; for the check of types OPA makes it a unification.
func boundedCompiler(parsed map[string]*ast.Module) *ast.Compiler {
	c := newCompiler().WithSkipStages(ast.StageRewriteEquals)
	c.Compile(parsed)
	weighComprehensions(c)
	rename(c)
	return c
}

// parse reads the modules on their own.
func (l *Library) parse(modules []Module, problems *document.Problems) map[string]*ast.Module {
	parsed := map[string]*ast.Module{}
	for _, m := range modules {
		s := newSource(m)
		switch {
		case l.sources[m.Name] != nil:
			problems.Errorf(s.start(), "two modules are called %q", m.Name)
			continue
		case len(m.Text) > MaxModule:
			problems.Hintf(s.start(), "split it into several modules", "the module has %d bytes, at most %d are read", len(m.Text), MaxModule)
			continue
		}
		l.sources[m.Name] = s
		if one := l.parseOne(m, problems); one != nil {
			parsed[m.Name] = one
		}
	}
	if count := countRules(parsed); count > maxRules {
		problems.Errorf(l.first(modules), "the modules have %d rules, at most %d are read", count, maxRules)
	}
	return parsed
}

func countRules(parsed map[string]*ast.Module) (count int) {
	for _, m := range parsed {
		count += len(m.Rules)
	}
	return count
}

func (l *Library) parseOne(m Module, problems *document.Problems) *ast.Module {
	one, err := ast.ParseModuleWithOpts(m.Name, m.Text, ast.ParserOptions{Capabilities: capabilities, RegoVersion: ast.RegoV1})
	if err != nil || one == nil {
		l.report(err, problems)
		return nil
	}
	l.names = append(l.names, ruleNames(one)...)
	l.checkText(one, problems)
	return one
}

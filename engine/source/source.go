// Package source says where policies come from. For now that is folders and
// files; everything found there is loaded and compiled the same way.
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// Options say what to load policies with.
type Options struct {
	// Schemas are folders of CRDs, besides the folders named schemas beside
	// the policies.
	Schemas []string
	// Known are types known already, such as those of a running cluster; nil
	// means the built-in kinds.
	Known *schema.Set
	// Params override parameters, by policy and parameter.
	Params map[string]map[string]string
}

// Bundle is what was found.
type Bundle struct {
	Policies []*plan.Policy
	// Documents are the policies as written, also those that do not compile.
	Documents []*v1alpha1.Policy
	Tests     []*v1alpha1.PolicyTest
	// Allowances are what the installation opens of what is protected.
	Allowances []v1alpha1.Allowance
	// Modules are the Rego modules beside policies, by the policies' files.
	Modules  map[string][]rego.Module
	Schemas  *schema.Set
	Problems []document.Problem
	// Files counts the files that were read.
	Files int
}

// Err gives the errors among the problems as one error.
func (b *Bundle) Err() error { return document.Join(b.Problems) }

// Unrunnable gives the constructs of the policies that this build can check
// but not run.
func (b *Bundle) Unrunnable() (out []document.Problem) {
	for _, p := range b.Policies {
		if !p.Disabled {
			out = append(out, p.Unsupported...)
		}
	}
	return out
}

// Load reads and compiles everything at some paths. An unreadable path is an
// error; everything wrong with a document is among the problems.
func Load(paths []string, o Options) (*Bundle, error) {
	b := &Bundle{Schemas: schema.NewSet(known(o.Known))}
	var problems document.Problems
	if err := b.schemas(paths, o.Schemas); err != nil {
		return nil, err
	}
	for _, path := range paths {
		files, err := load.Files(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			b.Files++
			found, wrong := load.Documents(f.Path, f.Text)
			problems.Append(wrong)
			b.Documents = append(b.Documents, found.Policies...)
			b.Tests = append(b.Tests, found.Tests...)
			b.allow(found)
			if len(found.Policies) > 0 {
				if err := b.modules(f.Path); err != nil {
					return nil, err
				}
			}
		}
		if err := b.allowBeside(path, &problems); err != nil {
			return nil, err
		}
	}
	if err := b.compile(o, &problems); err != nil {
		return nil, err
	}
	b.Problems = problems.List()
	return b, nil
}

// modules reads the Rego files beside a policy's file.
func (b *Bundle) modules(file string) error {
	found, err := Modules(file)
	if err == nil && len(found) > 0 {
		if b.Modules == nil {
			b.Modules = map[string][]rego.Module{}
		}
		b.Modules[file] = found
	}
	return err
}

// Modules reads the Rego files that belong to a policy's file: those beside it
// that have its name, alone or with _ and more after it.
func Modules(file string) (out []rego.Module, err error) {
	base := strings.TrimSuffix(file, filepath.Ext(file))
	more, err := filepath.Glob(escapeGlob(base) + "_*.rego")
	if err != nil {
		return nil, err
	}
	for _, path := range append([]string{base + ".rego"}, more...) {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, rego.Module{Name: path, Text: string(text)})
	}
	return out, nil
}

// program gives the modules without those that hold tests.
func (b *Bundle) program() map[string][]rego.Module {
	out := map[string][]rego.Module{}
	for file, list := range b.Modules {
		out[file] = slices.DeleteFunc(slices.Clone(list), rego.Module.IsTest)
	}
	return out
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// AllowanceFile is the file beside policies that says what they may do of what
// is protected.
const AllowanceFile = "allowances.yaml"

// allowBeside reads the allowances beside a policy that is given by itself.
func (b *Bundle) allowBeside(path string, problems *document.Problems) error {
	info, err := os.Stat(path)
	file := filepath.Join(filepath.Dir(path), AllowanceFile)
	if err != nil || info.IsDir() || filepath.Base(path) == AllowanceFile {
		return err
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	found, wrong := load.Documents(file, text)
	problems.Append(wrong)
	b.allow(found)
	return nil
}

func (b *Bundle) allow(found load.File) {
	for _, a := range found.Allowances {
		b.Allowances = append(b.Allowances, a.Spec.Allow...)
	}
}

func known(set *schema.Set) *schema.Set {
	if set == nil {
		return schema.Builtin()
	}
	return set
}

// schemas adds the CRDs of the folders given, and of those beside the paths.
func (b *Bundle) schemas(paths, given []string) error {
	for _, folder := range given {
		if _, err := os.Stat(folder); err != nil {
			return err
		}
	}
	for _, path := range paths {
		given = append(given, beside(path)...)
	}
	for _, folder := range given {
		if err := b.Schemas.AddFolder(folder); err != nil {
			return fmt.Errorf("reading schemas: %w", err)
		}
	}
	return nil
}

// beside gives the schema folders that belong to a path.
func beside(path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return []string{filepath.Join(filepath.Dir(path), load.SchemaFolder)}
	}
	found, err := filepath.Glob(filepath.Join(path, "*", load.SchemaFolder))
	if err != nil {
		found = nil
	}
	return append([]string{filepath.Join(path, load.SchemaFolder)}, found...)
}

func (b *Bundle) compile(o Options, problems *document.Problems) error {
	compiler, err := compile.New(compile.Options{Schemas: b.Schemas, Functions: builtins.Functions(), Queries: builtins.Queries(), Modules: b.program(), Params: o.Params})
	if err != nil {
		return err
	}
	names := map[string]document.Position{}
	for _, doc := range b.Documents {
		name := doc.Metadata.Name
		if first, dup := names[name.Value]; dup {
			problems.Add(document.Problem{
				Position: name.Pos(), Severity: document.Error, Source: name.Node.SourceLine(name.Pos().Line),
				Message: fmt.Sprintf("the policy %q is defined twice, first at %s", name.Value, first),
			})
			continue
		}
		names[name.Value] = name.Pos()
		p, wrong := compiler.Policy(doc)
		problems.Append(withLines(doc, wrong))
		if p != nil {
			p.Unsupported = withLines(doc, p.Unsupported)
			b.Policies = append(b.Policies, p)
		}
	}
	for policy := range o.Params {
		if _, ok := names[policy]; !ok {
			return fmt.Errorf("parameters are given for the policy %q, which does not exist", policy)
		}
	}
	slices.SortFunc(b.Policies, func(x, y *plan.Policy) int { return compareText(x.Name, y.Name) })
	return nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// withLines adds the source lines to problems that have none yet.
func withLines(doc *v1alpha1.Policy, list []document.Problem) []document.Problem {
	for i := range list {
		if list[i].Source == "" {
			list[i].Source = doc.Metadata.Name.Node.SourceLine(list[i].Line)
		}
	}
	return list
}

// Policy gives a compiled policy by name, or nil.
func (b *Bundle) Policy(name string) *plan.Policy {
	for _, p := range b.Policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Recompile compiles a policy of the bundle again, with other types. The plan
// is nil when the policy does not fit them; what does not fit is the second
// result.
func (b *Bundle) Recompile(name string, known *schema.Set, params map[string]map[string]string) (p *plan.Policy, misfit, err error) {
	compiler, err := compile.New(compile.Options{Schemas: known, Functions: builtins.Functions(), Queries: builtins.Queries(), Modules: b.program(), Params: params})
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range b.Documents {
		if doc.Metadata.Name.Value == name {
			p, problems := compiler.Policy(doc)
			return p, document.Join(problems), nil
		}
	}
	return nil, nil, ErrNothing
}

// ErrNothing says that there is no policy where one was expected.
var ErrNothing = errors.New("no policy found")

// Package source says where policies come from: folders and files, or the
// ConfigMaps of a cluster. Everything found there is loaded and compiled the
// same way, policy by policy; what is wrong with one disturbs no other.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
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
	// Params override those of the policies.
	Params compile.Overrides
	// Descriptions keeps what CRDs say of their fields.
	Descriptions bool
	// Edit changes policies before they are compiled; nil does not.
	Edit func(*Unit)
	// Texts are those of files that are edited, by path, in place of what the files
	// hold.
	Texts map[string][]byte
	// Rego compiles and runs the policies' Rego; nil is this process.
	Rego rego.Evaluator
	// Cache keeps what is read and compiled for the next Load; nil keeps nothing. It is
	// for options without Edit and Params.
	Cache *Cache
}

// Typed is who gives values that are for a policy which has to exist.
const Typed = "--param"

// Bundle is what was found.
type Bundle struct {
	// Units are the policies as written, also those that do not compile.
	Units []*Unit
	// Policies are those that compile.
	Policies []*plan.Policy
	// Tests are those that stand in files, Contents the ConfigMaps of policies in
	// manifests, which have tests and allowances of their own; their units are among Units.
	Tests    []*v1alpha1.PolicyTest
	Contents []*Contents
	// Allowances are the allowances in files, for policies of files.
	Allowances []v1alpha1.Allowance
	Schemas    *schema.Set
	Problems   []document.Problem
	// Paths are the files and folders of the bundle.
	Paths []string
	// Files counts the files that were read.
	Files int
	// Skipped counts the documents that are none of Edict.
	Skipped int

	// configMaps and sets are those in manifests.
	configMaps []*ConfigMap
	sets       []*Set
	// inside are the texts in manifests, by the file in problems.
	inside map[string]*document.Node
	// seen are the absolute paths of the files that have been read.
	seen map[string]bool
	// old is what the last Load has left, cache what this one leaves.
	old, cache *Cache
	compiler   *Compiler
}

// Err returns the errors among the problems as one error.
func (b *Bundle) Err() error { return document.Join(b.Problems) }

// Policy returns what a unit was compiled to; nil when it does not compile.
func (b *Bundle) Policy(u *Unit) *plan.Policy {
	for _, p := range b.Policies {
		if p.Source == u.Document.Pos && p.ID() == u.ID() {
			return p
		}
	}
	return nil
}

// Place returns where a place is in the files that were read: a policy may be a text in
// the manifest of a ConfigMap.
func (b *Bundle) Place(p document.Position) document.Position {
	if n := b.inside[p.File]; n != nil {
		return n.Inside(p)
	}
	return p
}

// File returns which of the files that were read has what problems name as a file.
func (b *Bundle) File(path string) string { return b.Place(document.Position{File: path}).File }

// Load reads and compiles everything at some paths. An unreadable path is an
// error; everything wrong with a document is among the problems.
func Load(paths []string, o Options) (*Bundle, error) {
	b := &Bundle{Paths: paths, Schemas: schema.NewSet(known(o.Known)), inside: map[string]*document.Node{}, seen: map[string]bool{}, old: o.Cache, cache: o.Cache.begin(), compiler: NewCompiler(o.Rego, nil)}
	if b.cache != nil {
		b.compiler = cmp.Or(b.cache.compiler, b.compiler)
		b.cache.compiler = b.compiler
	}
	if o.Descriptions {
		b.Schemas.KeepDescriptions()
	}
	var problems document.Problems
	if err := b.schemas(paths, o.Schemas); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := b.read(path, o, &problems); err != nil {
			return nil, err
		}
	}
	if err := b.allowBeside(paths, o, &problems); err != nil {
		return nil, err
	}
	b.Contents = b.join(&problems)
	for _, contents := range b.Contents {
		b.Units = append(b.Units, contents.Units...)
	}
	if o.Edit != nil {
		for _, u := range b.Units {
			o.Edit(u)
		}
	}
	if err := b.compile(o.Params, &problems); err != nil {
		return nil, err
	}
	b.Problems = problems.List()
	if o.Cache != nil {
		*o.Cache = *b.cache
	}
	return b, nil
}

func known(set *schema.Set) *schema.Set {
	if set == nil {
		return schema.Builtin()
	}
	return set
}

// Assemble compiles units that were read already.
func Assemble(units []*Unit, schemas *schema.Set, allowances []v1alpha1.Allowance, params compile.Overrides) (*Bundle, error) {
	b := &Bundle{Schemas: schemas, Allowances: allowances, Units: slices.Clone(units), compiler: NewCompiler(nil, nil)}
	var problems document.Problems
	err := b.compile(params, &problems)
	b.Problems = problems.List()
	return b, err
}

// compile compiles the units that have a name of their own.
func (b *Bundle) compile(params compile.Overrides, problems *document.Problems) error {
	names := map[string]*Unit{}
	var found Findings
	var room plan.Room
	for i, u := range b.Units {
		u = u.With(params)
		b.Units[i] = u
		if first := names[u.ID()]; first != nil {
			found.Add(u, []document.Problem{Twice(u, first)})
			continue
		}
		names[u.ID()] = u
		p, wrong, err := b.compiler.Compile(context.Background(), u, b.Schemas)
		if err != nil {
			return err
		}
		if p != nil {
			if err := room.Take(cmp.Or(u.Set, u.File.Path), p.Kept); err != nil {
				p, wrong = nil, append(slices.Clip(wrong), document.Problem{Position: u.Document.Pos, Severity: document.Error, Message: err.Error()})
			}
		}
		found.Add(u, wrong)
		if p != nil {
			b.Policies = append(b.Policies, p)
		}
	}
	problems.Append(found.List())
	for policy, values := range params {
		typed := slices.ContainsFunc(slices.Collect(maps.Values(values)), func(o compile.Override) bool { return o.From == Typed })
		if typed && !b.has(policy) {
			return fmt.Errorf("parameters are given for the policy %q, which does not exist%s", policy, b.meant(policy))
		}
	}
	slices.SortStableFunc(b.Policies, func(x, y *plan.Policy) int { return cmp.Compare(x.ID(), y.ID()) })
	return nil
}

// meant names the policy that was probably meant; "" for none.
func (b *Bundle) meant(policy string) string {
	var names []string
	for _, u := range b.Units {
		names = append(names, u.Document.Metadata.Name.Value, u.Document.Of)
	}
	if hint := document.DidYouMean(policy, names); hint != "" {
		return "; " + hint
	}
	return ""
}

func (b *Bundle) has(policy string) bool {
	return slices.ContainsFunc(b.Units, func(u *Unit) bool { return u.Named(policy) })
}

// Twice says that two units have one name.
func Twice(second, first *Unit) document.Problem {
	name := second.Document.Metadata.Name
	hint := ""
	for _, u := range []*Unit{second, first} {
		if of := u.Document.Of; of != "" {
			hint = fmt.Sprintf("the document %q at %s is a policy for each of its kinds, of which %s is this one", of, u.Document.Metadata.Name.Pos(), u.Document.Spec.For.Kind.Value)
		}
	}
	return document.Problem{
		Position: name.Pos(), Severity: document.Error, Source: name.Node.SourceLine(name.Pos().Line), Hint: hint,
		Message: fmt.Sprintf("the policy %q is defined twice, first at %s", name.Value, first.Document.Metadata.Name.Pos()),
	}
}

// ErrNothing says that there is no policy where one was expected.
var ErrNothing = errors.New("no policy found")

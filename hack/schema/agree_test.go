package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/test/budget"
)

// edit is a document with one change.
type edit struct {
	// at is where, what is the change.
	at, what string
	doc      any
}

// substitutes take the place of a value.
var substitutes = []edit{
	{what: "null"}, {what: "3", doc: 3}, {what: "true", doc: true}, {what: "a text", doc: "a text"},
	{what: "a list", doc: []any{1}}, {what: "a mapping", doc: map[string]any{"unknown": 1}},
}

// edits returns a value with every single change in it or of it.
func edits(v any, at string) (out []edit) {
	for _, other := range substitutes {
		out = append(out, edit{at, other.what, other.doc})
	}
	within := func(part any, at string, with func(any) any) {
		for _, e := range edits(part, at) {
			out = append(out, edit{e.at, e.what, with(e.doc)})
		}
	}
	switch v := v.(type) {
	case map[string]any:
		set := func(key string, value any) any {
			other := maps.Clone(v)
			other[key] = value
			return other
		}
		out = append(out, edit{at, "another field", set("unknown", 1)})
		for _, key := range slices.Sorted(maps.Keys(v)) {
			less := maps.Clone(v)
			delete(less, key)
			out = append(out, edit{at, "without " + key, less})
			within(v[key], at+"."+key, func(value any) any { return set(key, value) })
		}
	case []any:
		for i := range v {
			within(v[i], fmt.Sprintf("%s[%d]", at, i), func(value any) any {
				other := slices.Clone(v)
				other[i] = value
				return other
			})
		}
	}
	return out
}

// whole are documents with every field, by kind.
var whole = map[string]string{
	"Policy": "testdata/everypolicy.yaml", "PolicyTest": "testdata/everytest.yaml", "Allowances": "testdata/everyallowance.yaml",
}

// wholeDocuments returns documents of a kind that together have every field.
func wholeDocuments(t *testing.T, kind string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(whole[kind])
	if err != nil {
		t.Fatal(err)
	}
	return documents(t, text)
}

// TestSchemasAgreeWithTheEngine: a document that the loader rejects is invalid by
// the schema, and one that is invalid by the schema is rejected by the loader or
// the compiler. The documents have every field, and each value in them is changed.
func TestSchemasAgreeWithTheEngine(t *testing.T) {
	t.Parallel()
	known := schemas(t)
	compiler, err := compile.New(compile.Options{Schemas: schema.Builtin(), Functions: builtins.Functions(), Queries: builtins.Queries()})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, doc := range wholeDocuments(t, kind) {
				agree(t, engine{compiler}, known[kind], doc)
			}
		})
	}
}

// agree changes each value in a document.
func agree(t *testing.T, e engine, known *jsonschema.Schema, doc map[string]any) {
	t.Helper()
	if err := known.Validate(doc); err != nil || e.loader(t, doc) != nil || e.compiler(t, doc) != nil {
		t.Fatalf("the document is not right: %v, %v, %v", err, e.loader(t, doc), e.compiler(t, doc))
	}
	for i, edit := range edits(doc, "") {
		if i%budget.Of(5, 1) > 0 { // of each five one
			continue
		}
		invalid, unloaded := known.Validate(edit.doc), e.loader(t, edit.doc)
		if unloaded != nil && invalid == nil && !strings.Contains(unloaded.Error(), "the row has no $(") { // a schema knows no names
			t.Errorf("%s %s: the schema accepts what the loader rejects: %v", edit.at, edit.what, unloaded)
		}
		if unloaded == nil && invalid != nil && e.compiler(t, edit.doc) == nil {
			t.Errorf("%s %s: the schema rejects what the engine accepts: %v", edit.at, edit.what, invalid)
		}
	}
}

// engine reads documents as edict does.
type engine struct{ c *compile.Compiler }

func (engine) read(t *testing.T, doc any) (load.File, error) {
	t.Helper()
	text, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	file, problems := load.Documents("f.yaml", text)
	if len(file.Policies)+len(file.Tests)+len(file.Allowances) == 0 {
		return file, fmt.Errorf("not read: %v", problems)
	}
	return file, nil
}

// loader returns why the loader rejects a document.
func (e engine) loader(t *testing.T, doc any) error {
	t.Helper()
	_, err := e.read(t, doc)
	return err
}

// compiler returns why the compiler rejects a document that is a policy.
func (e engine) compiler(t *testing.T, doc any) error {
	t.Helper()
	file, err := e.read(t, doc)
	if err != nil {
		return err
	}
	for _, p := range file.Policies {
		if _, problems := e.c.Policy(p, compile.PolicyOptions{}); document.HasErrors(problems) {
			return document.Join(problems)
		}
	}
	return nil
}

// TestWholeDocumentsHaveEveryField: the documents of TestSchemasAgreeWithTheEngine
// have every field.
func TestWholeDocumentsHaveEveryField(t *testing.T) {
	t.Parallel()
	types, err := parse(typesFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		seen, reached := map[string]bool{}, map[string]bool{}
		for _, doc := range wholeDocuments(t, kind) {
			types.visit(kind, doc, seen, reached)
		}
		for name := range reached {
			for _, f := range types[name].fields {
				if !seen[name+"."+f.name] {
					t.Errorf("%s has no %s.%s", whole[kind], name, f.name)
				}
			}
		}
	}
}

// visit notes the fields that a value of a type has, and the types reached.
func (s structs) visit(name string, v any, seen, reached map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.visit(strings.TrimPrefix(name, "[]"), item, seen, reached)
		}
	case map[string]any:
		if of, isEntry := strings.CutPrefix(name, "[]Entry["); isEntry {
			for _, value := range v {
				s.visit(strings.TrimSuffix(of, "]"), value, seen, reached)
			}
			return
		}
		name = strings.TrimPrefix(name, "*")
		reached[name] = true
		for _, f := range s[name].fields {
			if value, ok := v[f.name]; ok {
				seen[name+"."+f.name] = true
				s.visit(f.of, value, seen, reached)
			}
		}
	}
}

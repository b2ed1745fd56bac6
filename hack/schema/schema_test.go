package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
)

const (
	typesFolder  = "../../engine/api/v1alpha1"
	schemaFolder = "../../docs/schema"
)

// TestSchemasAreCurrent: the files are what the types say.
func TestSchemasAreCurrent(t *testing.T) {
	t.Parallel()
	if err := run(typesFolder, schemaFolder, true); err != nil {
		t.Error(err)
	}
}

// TestEveryFieldIsDescribed: an editor has something to show for every field.
func TestEveryFieldIsDescribed(t *testing.T) {
	t.Parallel()
	types, err := parse(typesFolder)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range types {
		for _, f := range s.fields {
			if f.comment == "" {
				t.Errorf("%s.%s has no comment", name, f.name)
			}
		}
	}
}

// TestMetricsAreAllListed: the schema has the happenings that the engine counts.
func TestMetricsAreAllListed(t *testing.T) {
	t.Parallel()
	types, err := parse(typesFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range types["Metric"].fields {
		var want []string
		for _, h := range plan.Happenings {
			want = append(want, string(h))
		}
		if f.name == "of" && !slices.Equal(f.enum, want) {
			t.Errorf("a metric may be of %q, the engine counts %q", f.enum, want)
		}
	}
}

// schemas returns the schemas in the files, by kind of document.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	out := map[string]*jsonschema.Schema{}
	for _, kind := range kinds {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join(schemaFolder, fileOf(kind)))
		if err != nil {
			t.Fatal(err)
		}
		out[kind] = schema
	}
	return out
}

// documents returns the documents of a text that are Edict's, as plain values.
func documents(t *testing.T, text []byte) (out []map[string]any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	for {
		var doc any
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if fields, ok := doc.(map[string]any); ok && fields["apiVersion"] == "edict.dev/v1alpha1" {
			out = append(out, fields)
		}
	}
}

// TestShippedDocumentsAreValid: policies, policy tests, allowances and examples
// are what the schemas describe.
func TestShippedDocumentsAreValid(t *testing.T) {
	t.Parallel()
	known, valid := schemas(t), map[string]int{}
	for _, folder := range []string{"../../policies", "../../policy-tests", "../../examples", "../../charts/edict/files/policies"} {
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".yaml" || filepath.Base(filepath.Dir(file)) == load.SchemaFolder {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, doc := range documents(t, text) {
				kind, _ := doc["kind"].(string)
				if err := known[kind].Validate(doc); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				valid[kind]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range kinds {
		if valid[kind] == 0 {
			t.Errorf("no %s was found", kind)
		}
	}
}

// TestSchemasRejectWhatTheLoaderRejects: a document of the wrong shape is rejected
// by both, one of the right shape by neither. What only the compiler rejects is
// left to it, apart from required fields and texts of which there are few.
func TestSchemasRejectWhatTheLoaderRejects(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n"
	known := schemas(t)
	for name, tc := range map[string]struct {
		text           string
		loaded, schema bool
	}{
		"a policy":                         {policy, true, true},
		"scalars as expressions":           {policy + "  rules: [{name: 1, when: true}]\n", true, true},
		"a param of its default":           {policy + "  params: {a: 3, b: [x], c: {default: 1}}\n", true, true},
		"an expression as target":          {policy + "  rules: [{name: r, do: [{labels: {of: inputs.x, set: {a: null}}}]}]\n", true, true},
		"a named target":                   {policy + "  rules: [{name: r, do: [{labels: {of: {apiVersion: v1, kind: Pod, name: x}, set: {a: b}}}]}]\n", true, true},
		"a list as target":                 {policy + "  rules: [{name: r, do: [{labels: {of: [x], set: {a: b}}}]}]\n", false, false},
		"an unknown field":                 {policy + "  rule: []\n", false, false},
		"an unknown nested field":          {policy + "  rules: [{name: r, do: [{label: {}}]}]\n", false, false},
		"a mapping as text":                {policy + "  rules: [{name: r, when: {a: b}}]\n", false, false},
		"an empty text":                    {policy + "  rules: [{name: r, when: }]\n", false, false},
		"a text as boolean":                {policy + "  rules: [{name: r, stop: 'yes'}]\n", false, false},
		"a mapping as list":                {policy + "  rules: {name: r}\n", false, false},
		"a list as mapping":                {policy + "  params: [a]\n", false, false},
		"an unknown field of a param":      {policy + "  params: {a: {default: 1, max: 3}}\n", false, false},
		"an unknown field in a nested act": {policy + "  rules: [{name: r, do: [{select: {candidates: [], then: [{log: {text: x}}]}}]}]\n", false, false},
		"an unknown mode":                  {policy + "  mode: Shade\n", true, false},
		"a rule without a name":            {policy + "  rules: [{when: 'true'}]\n", true, false},
		"an input of several kinds":        {policy + "  inputs: [{name: x, kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Secret}]}]\n", true, true},
		"a policy for several kinds":       {strings.Replace(policy, "{apiVersion: v1, kind: Node}", "{kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Secret}]}", 1), true, true},
		"a policy of a kind and of kinds":  {strings.Replace(policy, "{apiVersion: v1, kind: Node}", "{apiVersion: v1, kind: Node, kinds: [{apiVersion: v1, kind: Pod}]}", 1), false, false},
		"an input without a kind":          {policy + "  inputs: [{name: x}]\n", true, false},
		"an input of a kind and of kinds":  {policy + "  inputs: [{name: x, apiVersion: v1, kind: Pod, kinds: [{apiVersion: v1, kind: Pod}]}]\n", true, false},
		"an input within something else":   {policy + "  inputs: [{name: x, apiVersion: v1, kind: Pod, within: all}]\n", true, false},
		"a policy without for":             {"apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec: {rules: []}\n", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := load.Documents("f.yaml", []byte(tc.text))
			if loaded := !document.HasErrors(problems); loaded != tc.loaded {
				t.Errorf("loaded: %t, want %t (%v)", loaded, tc.loaded, problems)
			}
			err := known["Policy"].Validate(documents(t, []byte(tc.text))[0])
			if (err == nil) != tc.schema {
				t.Errorf("valid: %t, want %t (%v)", err == nil, tc.schema, err)
			}
		})
	}
}

package builtins_test

import (
	"os"
	"strings"
	"testing"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// examples declares the names that the builtins' examples use.
func examples(t *testing.T) *cel.Env {
	t.Helper()
	env, err := cel.NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	var vars []cel.Var
	for _, name := range []string{"object", "item", "pod", "entry", "mapping", "kernel", "image", "condition", "params.period", "params.rolloutAnnotation"} {
		vars = append(vars, cel.Var{Name: name, Type: cel.DynType})
	}
	env, err = env.With(append(vars, cel.Var{Name: "key.name", Type: cel.StringType})...)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// TestEveryBuiltinIsDescribed: each says what it gives and shows a call of
// itself that compiles; docs/language.md lists it.
func TestEveryBuiltinIsDescribed(t *testing.T) {
	t.Parallel()
	env := examples(t)
	page, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range builtins.Functions() {
		if f.Doc == "" || !strings.Contains(f.Example, f.Name+"(") {
			t.Errorf("%s: doc %q, example %q", f.Name, f.Doc, f.Example)
		}
		if !strings.Contains(string(page), f.Name+"(") {
			t.Errorf("docs/language.md does not list %s", f.Name)
		}
		var problems document.Problems
		if env.Compile(cel.Text{Source: f.Example}, &problems) == nil {
			t.Errorf("the example of %s: %v", f.Name, problems.Err())
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range builtins.Functions() {
		if seen[f.Name] {
			t.Errorf("%s is declared twice", f.Name)
		}
		seen[f.Name] = true
		if f.Result.String() == "" {
			t.Errorf("%s has no result", f.Name)
		}
	}
	for _, q := range builtins.Queries() {
		name := q.Name
		if seen[name] {
			t.Errorf("%s is a function and a call", name)
		}
	}
}

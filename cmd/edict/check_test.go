package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// TestCheckGolden holds the diagnostics as a person sees them: every file and
// folder of testdata/check beside its output.
func TestCheckGolden(t *testing.T) {
	t.Parallel()
	for _, path := range checked(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, "check", path)
			golden(t, strings.TrimSuffix(path, ".yaml")+".golden", out+outcome(err))
		})
	}
}

// outcome words how a command ended.
func outcome(err error) string {
	if err == nil {
		return "accepted\n"
	}
	return "refused\n" + err.Error()
}

// checked returns the files and folders under testdata/check.
func checked(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"testdata/check/*.yaml", "testdata/check/*.d"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		out = append(out, found...)
	}
	return out
}

func TestCheckOutputsGolden(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"json", "github", "sarif"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"misspelt-field", "unindexable-join", "fine"} {
				out, err := execute(t, "check", "-o", output, "testdata/check/"+name+".yaml")
				golden(t, "testdata/check/"+name+".golden."+output, out+outcome(err))
			}
		})
	}
}

// TestCheckSeveralPaths: what stands at all of them is checked as one.
// TestCheckInManifests: annotations of code hosts are at places in files that exist.
func TestCheckInManifests(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  p.yaml: |\n    apiVersion: edict.dev/v1alpha1\n    kind: Policy\n    metadata: {name: p}\n    spec:\n      for: {apiVersion: v1, kind: Nodes}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]string{
		"text":   file + "/m/p.yaml:5:31: error",
		"github": "::error file=" + file + ",line=10,col=35,title=unknown-kind::",
		"sarif":  `"startLine": 10`,
	} {
		if got := program(t, "check", "-o", output, file); !strings.Contains(got.stdout, want) {
			t.Errorf("%s: no %q in\n%s", output, want, got.stdout)
		}
	}
}

func TestCheckSeveralPaths(t *testing.T) {
	t.Parallel()
	out, err := execute(t, "check", "testdata/check/fine.yaml", "testdata/check/no-schema.yaml")
	if err != nil || !strings.HasSuffix(out, "2 policies in 2 files: 0 errors, 2 warnings\n") {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile("testdata/check/fine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, err = execute(t, "check", "testdata/check/fine.yaml", write(t, t.TempDir(), "copy.yaml", string(text)))
	if err == nil || !strings.Contains(out, `the policy "fine" is defined twice`) {
		t.Errorf("one policy in two files: %v\n%s", err, out)
	}
	out, err = execute(t, "check", "testdata/check/fine.yaml", "testdata/check/fine.yaml")
	if err != nil || !strings.HasSuffix(out, "1 policy in 1 file: 0 errors, 0 warnings\n") {
		t.Errorf("one file twice: %v\n%s", err, out)
	}
}

func TestCheckSchemasFlag(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/check/misspelt-field.yaml")
	if err != nil {
		t.Fatal(err)
	}
	alone := write(t, t.TempDir(), "policy.yaml", string(text))
	if out, _ := execute(t, "check", alone); !strings.Contains(out, "no schema is known for example.com/v1 Widget") {
		t.Errorf("without a schema:\n%s", out)
	}
	if out, _ := execute(t, "check", "--schemas", "testdata/check/schemas", alone); !strings.Contains(out, `no field "replcas" here`) {
		t.Errorf("with a schema:\n%s", out)
	}
}

// TestCheckUnreadable: nothing can be said about what cannot be read.
// TestCheckManyProblems: a file with thousands of mistakes does not fill the terminal; the
// others are seen as well, and programs get all.
func TestCheckManyProblems(t *testing.T) {
	t.Parallel()
	list := []document.Problem{}
	for range 5000 {
		list = append(list, document.Problem{Position: document.Position{File: "a.yaml"}, Severity: document.Warning, Message: "odd"})
	}
	list = append(list, document.Problem{Position: document.Position{File: "b.yaml"}, Severity: document.Error, Message: "wrong"})
	var text, programs bytes.Buffer
	if err := errors.Join(checkText(&text, &source.Bundle{}, list), checkJSON(&programs, &source.Bundle{}, list)); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("a.yaml: warning: odd\n", 100) + "b.yaml: error: wrong\na.yaml: 4900 more are not shown; -o json has them\n0 policies in 0 files: 1 error, 5000 warnings\n"
	if got := text.String(); got != want {
		t.Errorf("%s", got)
	}
	if n := strings.Count(programs.String(), `"odd"`); n != 5000 {
		t.Errorf("a program gets %d", n)
	}
}

func TestCheckUnreadable(t *testing.T) {
	t.Parallel()
	empty, other := t.TempDir(), t.TempDir()
	write(t, other, "README.md", "no policy")
	write(t, other, "schemas/crd.yaml", "kind: CustomResourceDefinition")
	broken := t.TempDir()
	write(t, broken, "a.yaml", "kind: Policy")
	write(t, broken, "schemas/crd.yaml", "kind: CustomResourceDefinition\nspec: [")
	loop := filepath.Join(t.TempDir(), "loop.yaml")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a file that does not exist":       {[]string{"nothing.yaml"}, "stat nothing.yaml: no such file or directory"},
		"a link to itself":                 {[]string{loop}, "too many levels of symbolic links"},
		"an empty folder":                  {[]string{empty}, "read " + empty + ": no .yaml, .yml or .json file in this folder"},
		"a folder without policies":        {[]string{other}, "read " + other + ": no .yaml, .yml or .json file in this folder"},
		"schemas that do not exist":        {[]string{"--schemas", "nowhere", "testdata/check/fine.yaml"}, "stat nowhere: no such file or directory"},
		"a schema that cannot be read":     {[]string{broken}, "reading schemas: " + broken + "/schemas/crd.yaml: "},
		"one path of two that can be read": {[]string{"testdata/check/fine.yaml", "nothing.yaml"}, "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, append([]string{"check"}, tc.args...)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) || out != "" {
				t.Errorf("got %v, want %s\n%s", err, tc.want, out)
			}
		})
	}
}

// spec makes a policy of lines of its spec. An expression in it begins in
// line 8, column 33.
func spec(lines string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata:\n  name: a\nspec:\n  for: {apiVersion: v1, kind: Node}\n" + lines
}

func variable(expression string) string {
	return spec("  variables:\n    - {name: list, expression: '" + expression + "'}\n")
}

// TestCheckLimits: texts over each limit are refused, with the limit and what
// to do, and never take long.
func TestCheckLimits(t *testing.T) {
	t.Parallel()
	loop := func(over, variable, body string) string { return over + ".map(" + variable + ", " + body + ")" }
	rules := "  rules:\n"
	for i := range 201 {
		rules += fmt.Sprintf("    - {name: r%d, do: [{labels: {set: {a: b}}}]}\n", i)
	}
	for name, tc := range map[string]struct {
		text string
		// at is line and column; "" is the whole file.
		at, want string
	}{
		"bytes of an expression": {
			variable(`"` + strings.Repeat("x", 4095) + `"`), ":8:33",
			"the expression has 4097 bytes, at most 4096 are allowed; split it into variables",
		},
		"nodes of an expression": {
			variable("[1" + strings.Repeat(",1", 2020) + "]"), ":8:33", "expression node count exceeds limit",
		},
		"sums in sums": {
			variable("1" + strings.Repeat("+1", 200)), ":8:33", "max recursion depth exceeded",
		},
		"brackets of an expression": {
			variable(strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200)), ":8:", "expression recursion limit exceeded: 100",
		},
		"loops in loops": {
			variable(loop("[1]", "a", loop("[1]", "b", loop("[1]", "c", loop("[1]", "d", "1"))))), ":8:", "nest",
		},
		"loops over loops": {
			variable(loop(loop(loop(loop(loop(loop("[1]", "a", "a"), "a", "a"), "a", "a"), "a", "a"), "a", "a"), "a", "a")), ":8:",
			"6 bound variables stack up here, at most 5 may; split the expression into variables",
		},
		"a value many times over": {
			variable(loop(loop("[1]", "a", "["+strings.Repeat("a, ", 8)+"a]"), "b", "["+strings.Repeat("b, ", 8)+"b]")), ":8:",
			"this copies one value 81 times over, at most 64 are allowed",
		},
		"a pattern that is data": {
			variable(`object.metadata.name.matches(object.metadata.name)`), ":8:77", "a pattern must be a literal; pattern.search takes one that is data",
		},
		"a long pattern": {
			variable(`"a".matches("` + strings.Repeat("a", 257) + `")`), ":8:45", "a pattern may have 256 bytes, this has 257",
		},
		"a pattern that is none": {
			variable(`"a".matches("(")`), ":8:45", "not a regular expression of RE2: error parsing regexp: missing closing )",
		},
		"rules": {spec(rules), ":1:1", "the policy has 201 rules, at most 200 are allowed"},
		"bytes of a rule": {
			spec("  rules:\n    - name: long\n      do: [{event: {reason: A, message: " + strings.Repeat("x", 17<<10) + "}}]\n"), ":8:7",
			`the rule "long" has 17428 bytes, at most 16384 are allowed`,
		},
		"bytes of a document": {spec("# " + strings.Repeat("x", 257<<10)), "", "at most 262144 are read"},
		"depth of a document": {spec("  params: {a: " + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "}\n"), ":7:", "nested more than 64 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, t.TempDir(), "policy.yaml", tc.text)
			out, err := execute(t, "check", path)
			if err == nil {
				t.Fatal("it is accepted")
			}
			found := false
			for line := range strings.Lines(out) {
				found = found || strings.HasPrefix(line, path+tc.at) && strings.Contains(line, ": error: ") && strings.Contains(line, tc.want)
			}
			if !found {
				t.Errorf("no error at %q with %q:\n%.2000s", tc.at, tc.want, out)
			}
		})
	}
}

// TestCheckStrict: warnings alone are no failure, unless they are asked for.
func TestCheckStrict(t *testing.T) {
	t.Parallel()
	const path = "testdata/check/unindexable-join.yaml"
	for name, tc := range map[string]struct {
		args []string
		fail bool
	}{
		"warnings":        {nil, false},
		"strict":          {[]string{"--strict"}, true},
		"not shown":       {[]string{"--strict", "--severity", "error"}, false},
		"no severity":     {[]string{"--severity", "bad"}, true},
		"without problem": {[]string{"--strict", "testdata/check/fine.yaml", "--severity", "error"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := execute(t, append([]string{"check", path}, tc.args...)...); (err != nil) != tc.fail {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestShippedPoliciesAreFine: there is nothing to say about what users start from,
// and nothing had to be accepted without a reason.
func TestShippedPoliciesAreFine(t *testing.T) {
	t.Parallel()
	if out, err := execute(t, "check", "--strict", "../../policies", "../../examples", "--params", "../../examples/recommended/params.yaml"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAllowances: the document that is printed is all that is lacking.
func TestAllowances(t *testing.T) {
	t.Parallel()
	policy, err := os.ReadFile("testdata/check/missing-allowance.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write(t, folder, "policy.yaml", string(policy))
	if out, err := execute(t, "check", "--strict", folder); err == nil {
		t.Fatalf("nothing is lacking:\n%s", out)
	}
	out, err := execute(t, "allowances", folder)
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, "allowances.yaml", out)
	if checked, err := execute(t, "check", "--strict", folder); err != nil {
		t.Errorf("with\n%s\n%v\n%s", out, err, checked)
	}
}

package rego

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// mustCompile compiles one module whose package is p.
func mustCompile(t testing.TB, text string) *Library {
	t.Helper()
	library, problems, _ := Compile(Local(), []Module{{Name: "p.rego", Text: "package p\n" + text}})
	if library == nil {
		t.Fatalf("%s\n%v", text, problems)
	}
	return library
}

func mustQuery(t testing.TB, library *Library, text string) *Query {
	t.Helper()
	q, problem := library.Query(text, document.Position{File: "policy.yaml", Line: 7, Column: 3})
	if problem != nil {
		t.Fatal(problem)
	}
	return q
}

func texts(problems []document.Problem) []string {
	out := make([]string, 0, len(problems))
	for _, p := range problems {
		out = append(out, p.Error())
	}
	return out
}

// TestAllowed pins the functions: a new version of OPA must not add to them,
// and one that takes any away breaks policies.
func TestAllowed(t *testing.T) {
	t.Parallel()
	var got []string
	for _, b := range capabilities.Builtins {
		got = append(got, b.Name)
	}
	slices.Sort(got)
	want := strings.Fields(`
abs and array.concat array.flatten array.reverse array.slice assign base64.decode base64.encode base64.is_valid
base64url.decode base64url.encode base64url.encode_no_pad bits.and bits.negate bits.or bits.rsh bits.xor ceil concat contains
count div endswith eq equal floor format_int glob.match glob.quote_meta gt gte hex.decode hex.encode indexof indexof_n
internal.member_2 internal.member_3 intersection
is_array is_boolean is_null is_number is_object is_set is_string json.filter json.is_valid json.marshal json.remove
json.unmarshal lower lt lte max min minus mul neq net.cidr_contains net.cidr_intersects net.cidr_is_valid object.filter
object.get object.keys object.remove
object.subset object.union object.union_n or plus product regex.is_valid regex.match rem replace round semver.compare
semver.is_valid sort split sprintf startswith strings.any_prefix_match strings.any_suffix_match strings.count
strings.replace_n strings.reverse strings.split_n substring sum time.add_date time.clock time.date time.diff time.format
time.parse_duration_ns time.parse_ns
time.parse_rfc3339_ns time.weekday to_number trim trim_left trim_prefix trim_right trim_space trim_suffix type_name union
units.parse units.parse_bytes upper uri.is_valid uri.parse urlquery.decode urlquery.decode_object urlquery.encode
urlquery.encode_object uuid.parse`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if capabilities.AllowNet == nil || len(capabilities.AllowNet) > 0 {
		t.Error("AllowNet must be empty and not nil")
	}
	for _, b := range capabilities.Builtins {
		if b.IsNondeterministic() || b.IsDeprecated() {
			t.Errorf("%s is nondeterministic or deprecated", b.Name)
		}
	}
}

func TestCompileProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"empty":                   {"", "m.rego: not valid Rego: empty module (begin with: package a.name)"},
		"no package":              {"x := 1", "m.rego:1:1: not valid Rego: package expected (begin with: package a.name)"},
		"syntax":                  {"package p\n\nx := {1, ", "m.rego:3:9: not valid Rego: unexpected eof token"},
		"a text in single quotes": {"package p\nx if { input.a == 'b' }", "m.rego:2:19: not valid Rego: illegal token (a text stands in double quotes)"},
		"v0":                      {"package p\nx { true }", "m.rego:2:1: not valid Rego: `if` keyword is required before rule body (write: name if { ... })"},
		"template":                {"package p\nx := $\"{1}\"", "m.rego:2:6: not valid Rego: "},
		"undefined":               {"package p\ndecision := decisoin2\ndecision2 := 1", "m.rego:2:13: \"decisoin2\" has no value here (did you mean \"decision2\"?)"},
		"unicode column":          {"package p\nx := [\"äöü\", y]", "m.rego:2:14: \"y\" has no value here"},
		"unsafe":                  {"package p\nx if not zzzzzz", "\"zzzzzz\" has no value here (it is no rule of this package, and nothing sets it before)"},
		"no data":                 {"package p\nx := data.p.yy\nyyy := 1", "m.rego:2:6: undefined name data.p.yy (did you mean \"data.p.yyy\"?)"},
		"unknown data":            {"package p\nx := data.config.y", "m.rego:2:6: undefined name data.config"},
		"http":                    {"package p\nx := http.send({\"url\": \"http://a\"})", "m.rego:2:6: http.send is not allowed in a policy (a policy reaches no network)"},
		"clock":                   {"package p\nx := time.now_ns()", "time.now_ns is not allowed in a policy (a result must not change by itself; pass a time in the input)"},
		"walk":                    {"package p\nx contains y if walk(input, y)", "walk is not allowed in a policy"},
		"shift":                   {"package p\nx := bits.lsh(1, 999999999)", "bits.lsh is not allowed in a policy"},
		"render":                  {"package p\nx := strings.render_template(\"a\", {})", "strings.render_template is not allowed in a policy (use sprintf or concat)"},
		"paths":                   {"package p\nx := graph.reachable_paths({}, [])", "graph.reachable_paths is not allowed in a policy (it may cost more than an evaluation may; a variable in CEL follows edges with list.fold, a level for each item of a list)"},
		"schema":                  {"package p\nx := json.match_schema({}, {\"$ref\": \"http://a\"})", "json.match_schema is not allowed in a policy"},
		"range":                   {"package p\nx := numbers.range(1, 1000000000)", "numbers.range is not allowed in a policy"},
		"expand":                  {"package p\nx := net.cidr_expand(\"10.0.0.0/8\")", "net.cidr_expand is not allowed in a policy"},
		"each with each":          {"package p\nx := net.cidr_contains_matches([\"10.0.0.0/8\"], [\"10.0.0.1\"])", "net.cidr_contains_matches is not allowed in a policy (it compares each with each; go through the lists, with net.cidr_contains)"},
		"digest":                  {"package p\nx := crypto.sha256(\"a\")", "crypto.sha256 is not allowed in a policy (pass hash.sha256(x) or hash.fnv1a128(x) in the input)"},
		"token":                   {"package p\nx := io.jwt.decode(\"a\")", "io.jwt.decode is not allowed in a policy (a policy has no keys and checks no tokens)"},
		"made up":                 {"package p\nx := uuid.rfc4122(\"a\")", "uuid.rfc4122 is not allowed in a policy (a policy decides the same way each time)"},
		"deprecated":              {"package p\nx := any([true])", "any is not allowed in a policy (it is deprecated)"},
		"print":                   {"package p\nx if print(1)", "print is not allowed in a policy"},
		"no function":             {"package p\nx := lowr(\"A\")", "m.rego:2:6: no function is called \"lowr\" (did you mean \"lower\"?)"},
		"unused":                  {"package p\nx if y := 1", "m.rego:2:6: the variable \"y\" is never used (remove it, or call it _)"},
		"unused import":           {"package p\nimport data.p.y\nx := 1\ny := 2", "m.rego:2:1: import data.p.y unused"},
		"unused arg":              {"package p\nf(a) := 1", "the argument \"a\" is never used (call it _)"},
		"recursion":               {"package p\nx if y\ny if x", "uses itself: data.p.x -> data.p.y -> data.p.x"},
		"conflict":                {"package p\nx := 1\nx(a) := a", "conflicting rules data.p.x found"},
		"type":                    {"package p\nx := count(1)", "m.rego:2:6: count: invalid argument(s): have: (number, ???), want: (collection: any<"},
		"match":                   {"package p\nx if 1 == \"a\"", "m.rego:2:6: match error: left  : number, right : string"},
		"number":                  {"package p\nx := 1e999999999", "m.rego:2:6: not valid Rego: number too big"},
		"large":                   {"package p\n# " + strings.Repeat("x", MaxModule), "the module has 65548 bytes, at most 65536 are read (split it into several modules)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library, problems, _ := Compile(Local(), []Module{{Name: "m.rego", Text: c.text}})
			if library != nil {
				t.Error("it compiled")
			}
			if got := strings.Join(texts(problems), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestCompileIsBounded: what would take the compiler minutes does not get there.
func TestCompileIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"lists":          "x := " + strings.Repeat("[", 30000) + strings.Repeat("]", 30000),
		"parentheses":    "x := " + strings.Repeat("(", 30000) + "1" + strings.Repeat(")", 30000),
		"sum":            "x := 1" + strings.Repeat("+1", 30000),
		"comprehensions": "x := " + strings.Repeat("[y | y := ", 3000) + "1" + strings.Repeat("]", 3000),
		"every":          "x if { " + strings.Repeat("every a in input { ", 1500) + "a" + strings.Repeat("}", 1500) + "}",
		"else":           "x := 1 if input.a" + strings.Repeat(" else := 2 if input.b", 2500),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if library, problems, _ := Compile(Local(), []Module{{Name: "m.rego", Text: "package p\n" + text}}); library != nil || len(problems) != 1 {
				t.Errorf("%v", problems)
			}
		})
	}
}

// comprehensions nests n of them.
func comprehensions(open string, n int) string {
	closing := map[byte]string{'[': "]", '{': "}"}[open[0]]
	return strings.Repeat(open, n) + "1 == 1" + strings.Repeat(closing, n)
}

// TestNestingIsBounded: what is just within a limit compiles soon, what is beyond
// has an error with its place.
func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	const deep, long = "at most 8 levels are read (make a part of it a rule of its own)", "at most 200 are read (make a part of it a rule of its own)"
	for name, c := range map[string]struct {
		text func(n int) string
		most int
		want string
	}{
		"lists":   {func(n int) string { return "x := " + comprehensions("[1 | ", n) }, 8, deep},
		"sets":    {func(n int) string { return "x := " + comprehensions("{1 | ", n) }, 8, deep},
		"objects": {func(n int) string { return "x := " + comprehensions("{1: 1 | ", n) }, 8, deep},
		"heads":   {func(n int) string { return "x := " + strings.Repeat("[", n) + "1" + strings.Repeat(" | true]", n) }, 8, deep},
		"keys":    {func(n int) string { return "x := " + strings.Repeat("{", n) + "1" + strings.Repeat(": 1 | true}", n) }, 8, deep},
		"calls": {func(n int) string {
			return "x := " + strings.Repeat("[count(y) | y := ", n) + "[1]" + strings.Repeat("]", n)
		}, 8, deep},
		"not": {func(n int) string {
			return "x if not " + strings.Repeat("count([1 | not ", n) + "input.a" + strings.Repeat("]) == 0", n)
		}, 8, deep},
		"every": {func(n int) string {
			return "x if every a in " + strings.Repeat("[1 | true; every a in ", n) + "input" + strings.Repeat(" { a }]", n) + " { a }"
		}, 8, deep},
		"with": {func(n int) string {
			return "y := input\nx := " + strings.Repeat("[1 | y with input as ", n) + "1" + strings.Repeat("]", n)
		}, 8, deep},
		"else": {func(n int) string { return "x := 1 if input.a else := 2 if " + comprehensions("[1 | ", n) + " == []" }, 8, deep},
		"function": {func(n int) string {
			return "f(a) := " + strings.Repeat("[a | ", n) + "a" + strings.Repeat("]", n) + "\nx := f(1)"
		}, 8, deep},
		"many":        {func(n int) string { return strings.Repeat("x contains "+comprehensions("[1 | ", 8)+"\n", n) }, 70, "too much text inside nested comprehensions"},
		"body":        {func(n int) string { return backwards(n) }, 200, long},
		"many bodies": {func(n int) string { return strings.Repeat(backwards(200)+"\n", n) }, 3, "the modules have too many long bodies"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if library, problems, _ := Compile(Local(), []Module{{Name: "m.rego", Text: "package p\n" + c.text(c.most)}}); library == nil {
				t.Errorf("within the limit: %v", problems)
			}
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("within the limit: it took %v", took)
			}
			_, problems, _ := Compile(Local(), []Module{{Name: "m.rego", Text: "package p\n" + c.text(2*c.most)}})
			if got := strings.Join(texts(problems), "\n"); !strings.Contains(got, c.want) || !strings.HasPrefix(got, "m.rego:") {
				t.Errorf("beyond the limit: got %s\nwant %s", got, c.want)
			}
		})
	}
}

// backwards is a rule with n expressions, each of which needs the next.
func backwards(n int) string {
	var b strings.Builder
	b.WriteString("x if {\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "a%d = a%d\n", i, i+1)
	}
	fmt.Fprintf(&b, "a%d = input.a\n}", n-1)
	return b.String()
}

func TestCompileShowsTheLine(t *testing.T) {
	t.Parallel()
	_, problems, _ := Compile(Local(), []Module{{Name: "m.rego", Text: "package p\r\nx := lowr(\"A\")\r\n"}})
	if len(problems) != 1 || problems[0].Source != `x := lowr("A")` {
		t.Errorf("%+v", problems)
	}
}

func TestCompileInline(t *testing.T) {
	t.Parallel()
	var ps document.Problems
	node := document.Parse("policy.yaml", []byte("a: 1\nmodule: |\n    package p\n\n    x := [1,\n      lowr(\"A\")]\n"), &ps)[0].Get("module")
	_, problems, _ := Compile(Local(), []Module{{Name: "inline", Text: node.Text, Node: node}})
	want := []document.Problem{{
		Position: document.Position{File: "policy.yaml", Line: 6, Column: 7}, Severity: document.Error,
		Message: `no function is called "lowr"`, Hint: `did you mean "lower"?`, Source: `      lowr("A")]`,
	}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}

func TestCompileTwice(t *testing.T) {
	t.Parallel()
	m := Module{Name: "m.rego", Text: "package p\nx := 1"}
	if _, problems, _ := Compile(Local(), []Module{m, m}); len(problems) != 1 || problems[0].Message != `two modules are called "m.rego"` {
		t.Errorf("%v", problems)
	}
}

func TestQueryProblems(t *testing.T) {
	t.Parallel()
	library := mustCompile(t, "decision := 1\nf(x) := x")
	for text, want := range map[string]string{
		"data.p.decisoin": `policy.yaml:3: no rule is called data.p.decisoin (did you mean "data.p.decision"?)`,
		"data.p":          "policy.yaml:3: no rule is called data.p",
		"data.p.f":        "policy.yaml:3: data.p.f is a function (ask for a rule that calls it)",
		"data.p[_]":       `policy.yaml:3: a query names one rule, this is "data.p[_]" (such as data.a.b.rule)`,
		"p.decision":      `policy.yaml:3: a query names one rule, this is "p.decision" (such as data.a.b.rule)`,
		"1 +":             `policy.yaml:3: a query names one rule, this is "1 +" (such as data.a.b.rule)`,
	} {
		_, problem := library.Query(text, document.Position{File: "policy.yaml", Line: 3})
		if problem == nil || !strings.HasPrefix(problem.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, problem, want)
		}
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	library, problems, _ := Compile(Local(), []Module{
		{Name: "a.rego", Text: "package a\n\ndecision := helper\n\nhelper := input.x\n\nlost := 1\n"},
		{Name: "b.rego", Text: "package b\nother := 1\n"},
		{Name: "a_test.rego", Text: "package a_test\nimport data.a\ntest_x if a.lost\n"},
	})
	if library == nil {
		t.Fatal(problems)
	}
	want := []string{
		"a.rego:7:1: nothing uses the rule lost",
		"b.rego:1:1: no query uses the package b (the policy asks data.a.decision)",
	}
	if diff := cmp.Diff(want, texts(library.Lint(mustQuery(t, library, "data.a.decision")))); diff != "" {
		t.Error(diff)
	}
}

// TestLintOfParts: rules that give a part of what is asked for are used.
func TestLintOfParts(t *testing.T) {
	t.Parallel()
	library := mustCompile(t, "labels[k] := \"x\" if some k in [\"a\"]\nlabels[\"b\"] := helper\nlabels.c := 1\nhelper := 2\nlabelsOfOthers := 3")
	want := []string{"p.rego:6:1: nothing uses the rule labelsOfOthers"}
	if diff := cmp.Diff(want, texts(library.Lint(mustQuery(t, library, "data.p.labels")))); diff != "" {
		t.Error(diff)
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	library := mustCompile(t, `
import input.status as st
decision := "a" if {
	input.spce.x
	some i
	input.list[i].name == st.y
	object.get(input, "bootID", "") == object.get(input.spec, ["a", "b"], "")
}
unused := input.zzz`)
	q := mustQuery(t, library, "data.p.decision")
	var paths []string
	for _, ref := range library.InputRefs(q) {
		paths = append(paths, strings.Join(ref.Path, "."))
	}
	slices.Sort(paths)
	if diff := cmp.Diff([]string{"bootID", "list", "spce.x", "spec.a.b", "status.y"}, paths); diff != "" {
		t.Error(diff)
	}
	input := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{
		"spec": schema.Any, "status": schema.Any, "list": schema.Any,
	}}
	want := []string{
		`p.rego:5:2: input has no field "spce" (did you mean "spec"?)`,
		`p.rego:8:13: input has no field "bootID"`,
	}
	if diff := cmp.Diff(want, texts(library.CheckInput(q, input))); diff != "" {
		t.Error(diff)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("package p\nx if input.y == 1")
	f.Add("package p\nx := {a: b | some a, b in input}\nf([x, y]) := z if every z in x { z }")
	f.Add(strings.Repeat("[", 5000))
	f.Fuzz(func(_ *testing.T, text string) {
		library, _, _ := Compile(Local(), []Module{{Name: "m.rego", Text: text}})
		if library == nil {
			return
		}
		for _, name := range library.entries() {
			if q, _ := library.Query(name, document.Position{}); q != nil {
				library.CheckInput(q, schema.Untyped())
			}
		}
	})
}

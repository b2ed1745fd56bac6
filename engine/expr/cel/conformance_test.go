package cel

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	celpb "cel.dev/expr"
	conformance "cel.dev/expr/conformance/test"
	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/encoding/prototext"

	_ "cel.dev/expr/conformance/proto2" // messages of the tests
	_ "cel.dev/expr/conformance/proto3"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// moduleFolder returns the folder of a module that this one needs.
func moduleFolder(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// both are the environment of the API server, and the one of policies.
type both struct {
	theirs *cel.Env
	ours   *Env
}

func newBoth(t *testing.T) both {
	t.Helper()
	theirs, err := libraryEnv()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := NewEnv(builtins.Functions())
	if err != nil {
		t.Fatal(err)
	}
	return both{theirs, ours}
}

// with declares variables in both.
func (b both) with(t *testing.T, vars []Var) both {
	t.Helper()
	options := make([]cel.EnvOption, len(vars))
	for i, v := range vars {
		options[i] = cel.Variable(v.Name, v.Type)
	}
	theirs, err := b.theirs.Extend(options...)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := b.ours.With(vars...)
	if err != nil {
		t.Fatal(err)
	}
	return both{theirs, ours}
}

// answer is what the API server says of an expression: a value, nil for an error, or why it
// does not take the expression.
func (b both) answer(source string, scope names) (ref.Val, error) {
	checked, issues := b.theirs.Compile(source)
	if issues.Err() != nil {
		return nil, errors.New(issues.Errors()[0].Message)
	}
	program, err := b.theirs.Program(checked)
	if err != nil { // which computes constants
		return nil, nil //nolint:nilerr // an error is an answer
	}
	given := map[string]any{}
	for name, v := range scope {
		given[name] = v
	}
	out, _, err := program.Eval(given)
	if err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	return out, nil
}

// compare evaluates an expression in all ways in which a policy does: as it is, and with its
// literals in variables.
func (b both) compare(t *testing.T, source string, scope names, want ref.Val) {
	t.Helper()
	ways, err := b.ways(t, source, scope)
	if err != nil && want != nil && refusedHere[source] == "" {
		t.Errorf("%s: %v, want %s", source, err, said(want))
	}
	for way, got := range ways {
		if !same(got, want) {
			t.Errorf("%s %s: %s, want %s", way, source, said(got), said(want))
		}
	}
	b, lifted, values := b.lift(t, source)
	maps.Copy(values, scope)
	if theirs, err := b.answer(lifted, values); err == nil && len(values) > len(scope) {
		ways, _ := b.ways(t, lifted, values)
		for way, got := range ways {
			if !same(got, theirs) {
				t.Errorf("%s %s with %v: %s, want %s", way, lifted, values, said(got), said(theirs))
			}
		}
	}
}

// ways returns what the ways say of an expression, where they do not give up; nil is an
// error. err is why it does not compile.
func (b both) ways(t *testing.T, source string, scope names) (map[string]ref.Val, error) {
	t.Helper()
	var problems document.Problems
	p := b.ours.Compile(Text{Source: source}, &problems)
	if p == nil {
		return nil, problems.Err()
	}
	meter := expr.NewMeter(t.Context())
	defer meter.Close()
	out, err := map[string]ref.Val{}, error(nil)
	if out["interpreted"], err = p.interpret(scope, meter); err != nil {
		out["interpreted"] = nil
	}
	if got := p.directly(scope, meter); got != nil {
		out["directly"] = got
	}
	if p.direct == nil {
		return out, nil
	}
	columns := map[string][]ref.Val{}
	for name, v := range scope {
		columns[name] = slices.Repeat([]ref.Val{v}, 3)
	}
	for way, batch := range map[string]*direct.Batch{"in rows": {Rows: 3, Columns: columns}, "row by row": {Rows: 3, Columns: maps.Clone(columns), Meter: meter}} {
		if rows := p.direct.Rows(batch); len(rows) == 3 && rows[2] != nil {
			out[way] = rows[2]
		}
	}
	return out, nil
}

// lift replaces literals of an expression by variables.
func (b both) lift(t *testing.T, source string) (both, string, names) {
	t.Helper()
	parsed, issues := b.theirs.Parse(source)
	if issues.Err() != nil || strings.ContainsFunc(source, func(r rune) bool { return r > unicode.MaxASCII }) { // places are of bytes
		return b, source, names{}
	}
	literals := map[celast.OffsetRange]ref.Val{}
	celast.PostOrderVisit(parsed.NativeRep().Expr(), celast.NewExprVisitor(func(x celast.Expr) {
		at, ok := parsed.NativeRep().SourceInfo().GetOffsetRange(x.ID())
		if ok && x.Kind() == celast.LiteralKind && b.isLiteral(source[at.Start:at.Stop]) {
			literals[at] = x.AsLiteral()
		}
	}))
	places, vars, values := slices.Collect(maps.Keys(literals)), []Var(nil), names{}
	slices.SortFunc(places, func(a, b celast.OffsetRange) int { return cmp.Compare(b.Start, a.Start) })
	for i, at := range places {
		name, v := fmt.Sprintf("lifted%d", i), literals[at]
		source, values[name] = source[:at.Start]+name+source[at.Stop:], v
		vars = append(vars, Var{name, v.Type().(*Type)})
	}
	return b.with(t, vars), source, values
}

// isLiteral reports whether a text is one literal, and not what a macro makes one of.
func (b both) isLiteral(source string) bool {
	parsed, issues := b.theirs.Parse(source)
	return issues.Err() == nil && parsed.NativeRep().Expr().Kind() == celast.LiteralKind
}

func same(a, b ref.Val) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return alike(a, b) || a.Type() == b.Type() && a.Equal(b) == types.True
}

func said(v ref.Val) string {
	if v == nil {
		return "an error"
	}
	return fmt.Sprintf("%s (%s)", shown(v), v.Type())
}

// refusedHere are expressions that policies may not have, and why.
var refusedHere = map[string]string{
	`"123 abc 456".matches('[0-9]' + '*')`: "the pattern is no literal",
}

// leftOut are tests that are not run, by what the API server says of their expressions.
var leftOut = []struct{ says, why string }{
	{"conformance.proto[23]|TestAllTypes|TestRequired|GlobalEnum|Value'", "messages and enums of protocol buffers, which no object has"},
	{"no check", "types are always checked"},
	{"a function", "it declares a function"},
	{"'(cel|block|index|bind|iterVar|accuVar)'|^argument is not an identifier|^argument must be a simple name", "cel.bind and cel.block, which the API server does not have: a policy has variables"},
	{"'base64'", "a builtin of policies, which gives texts: see TestLibraries"},
	{"^expected type ", "a list or a map with values of several types needs dyn"},
	{"'isIP'|'reverse'|during formatting", "a function of a later version than the API server's"},
}

// whyLeftOut returns why a test is not run; "" for one that has to be.
func whyLeftOut(says string) string {
	for _, l := range leftOut {
		if regexp.MustCompile(l.says).MatchString(says) {
			return l.why
		}
	}
	return ""
}

// otherThere are expressions of which the API server says something else than the suite, as
// it has earlier versions of the libraries.
var otherThere = map[string]string{
	"{true:1,false:2,true:3}[true]":     "the last of two equal keys counts",
	"y":                                 "names with a dot before them are not resolved",
	"::ffff:":                           "IPv4 addresses in IPv6 are refused",
	"{'null_key': dyn(null)}.?null_key": "nothing has no fields",
	"{true: dyn(0)}[?true].absent":      "a number has no fields",
	".format(":                          "format writes numbers by a locale, and texts in lists in quotes",
	"ndexOf('a', 30)":                   "an index behind the end finds nothing",
	"[dyn(b'')]":                        "bytes are no key",
	"x.getMilliseconds()":               "all milliseconds of a duration",
}

// TestConformance runs the conformance tests of CEL.
func TestConformance(t *testing.T) {
	t.Parallel()
	b := newBoth(t)
	files, err := filepath.Glob(filepath.Join(moduleFolder(t, "cel.dev/expr"), "tests/simple/testdata/*.textproto"))
	if err != nil {
		t.Fatal(err)
	}
	ran, left := 0, map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var suite conformance.SimpleTestFile
		if err := prototext.Unmarshal(text, &suite); err != nil {
			t.Fatal(err)
		}
		for _, section := range suite.GetSection() {
			for _, test := range section.GetTest() {
				if why := b.conforms(t, test); why != "" {
					left[why]++
				} else {
					ran++
				}
			}
		}
	}
	t.Logf("%d tests; left out: %v", ran, left)
	if ran < 1500 {
		t.Errorf("only %d tests were run", ran)
	}
}

// conforms runs one test; why is set for one that is left out.
func (b both) conforms(t *testing.T, test *conformance.SimpleTest) (why string) {
	t.Helper()
	b, scope, err := b.bind(t, test)
	if err != nil {
		return whyLeftOut(err.Error())
	}
	got, err := b.answer(test.GetExpr(), scope)
	if err != nil {
		if why := whyLeftOut(err.Error()); why != "" {
			return why
		}
	}
	want, wrong := b.wanted(test, got)
	if wrong != nil {
		return whyLeftOut(wrong.Error())
	}
	b.compare(t, test.GetExpr(), scope, got)
	other := slices.ContainsFunc(slices.Collect(maps.Keys(otherThere)), func(part string) bool {
		return part == test.GetExpr() || len(part) > 1 && strings.Contains(test.GetExpr(), part)
	})
	if !same(got, want) && !other {
		t.Errorf("%s is %s (%v), want %s", test.GetExpr(), said(got), err, said(want))
	}
	return ""
}

// bind declares the variables of a test, and returns their values.
func (b both) bind(t *testing.T, test *conformance.SimpleTest) (both, names, error) {
	t.Helper()
	if test.GetDisableCheck() {
		return b, nil, errors.New("no check")
	}
	var vars []Var
	for _, d := range test.GetTypeEnv() {
		typ, err := types.ProtoAsType(d.GetIdent().GetType())
		if err != nil {
			return b, nil, errors.New("a function")
		}
		vars = append(vars, Var{d.GetName(), typ})
	}
	scope := names{}
	for name, bound := range test.GetBindings() {
		v, err := b.value(bound.GetValue())
		if err != nil {
			return b, nil, err
		}
		scope[name] = v
	}
	return b.with(t, vars), scope, nil
}

// wanted returns what the result of a test has to be, nil for an error; what it is where
// only its type is asked.
func (b both) wanted(test *conformance.SimpleTest, got ref.Val) (ref.Val, error) {
	switch test.GetResultMatcher().(type) {
	case *conformance.SimpleTest_Value:
		return b.value(test.GetValue())
	case *conformance.SimpleTest_TypedResult:
		if test.GetTypedResult().GetResult() == nil {
			return got, nil
		}
		return b.value(test.GetTypedResult().GetResult())
	case *conformance.SimpleTest_EvalError:
		return nil, nil
	}
	return types.True, nil
}

// value makes a value of a test.
func (b both) value(pb *celpb.Value) (value.Value, error) {
	v, err := cel.ProtoAsValue(b.theirs.CELTypeAdapter(), pb)
	if err != nil {
		return nil, err
	}
	return value.Settle(v)
}

// TestKubernetesLibraries evaluates what the tests of Kubernetes' and cel-go's libraries
// evaluate: every text in them that is an expression without variables.
func TestKubernetesLibraries(t *testing.T) {
	t.Parallel()
	b, ran := newBoth(t), 0
	for module, folders := range map[string][]string{
		"k8s.io/apiserver":               {"pkg/cel/library"},
		"k8s.io/apiextensions-apiserver": {"pkg/apiserver/schema/cel"},
		"github.com/google/cel-go":       {"cel", "checker", "ext", "interpreter"},
	} {
		for _, folder := range folders {
			for _, source := range literalsOf(t, filepath.Join(moduleFolder(t, module), folder)) {
				if want, refusal := b.answer(source, nil); refusal == nil {
					b.compare(t, source, names{}, want)
					ran++
				}
			}
		}
	}
	if ran < 1500 {
		t.Errorf("only %d expressions were evaluated", ran)
	}
}

// literalsOf returns the texts in the tests of a folder, once each.
func literalsOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no tests in", folder, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				found[text] = true
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

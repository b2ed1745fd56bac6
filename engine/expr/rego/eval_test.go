package rego

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func of(raw any) value.Value { return value.Freeze(raw, nil, value.KeepAll) }

// eval compiles rules of a package p and asks for data.p.x.
func eval(t testing.TB, rules string, input value.Value) (value.Value, error) {
	t.Helper()
	q := mustQuery(t, mustCompile(t, rules), "data.p.x")
	return q.Eval(t.Context(), expr.NewMeter(t.Context()), now, input)
}

func TestEval(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 0, 0, 0, 5, time.UTC)
	for name, c := range map[string]struct {
		rules string
		input value.Value
		want  any
	}{
		"scalars":        {"x := [1, 1.5, \"a\", true, null]", value.Null, []any{int64(1), 1.5, "a", true, nil}},
		"whole":          {"x := [4 / 2, 1e3, 7 / 2, 9007199254740993 + 1]", value.Null, []any{int64(2), int64(1000), 3.5, int64(9007199254740994)}},
		"set":            {"x := {3, 1, 2}", value.Null, []any{int64(1), int64(2), int64(3)}},
		"set of objects": {"x contains {\"a\": i} if some i in [3, 1]", value.Null, []any{map[string]any{"a": int64(1)}, map[string]any{"a": int64(3)}}},
		"object":         {"x[k] := v if some k, v in input", of(map[string]any{"a": "b"}), map[string]any{"a": "b"}},
		"absent":         {"x := [k | some k, _ in input]", value.FromMap(map[string]value.Value{"a": value.None, "b": value.Some(value.OfInt(1)), "c": value.Null}), []any{"b", "c"}},
		"null stays":     {"x if is_null(input.c)", value.FromMap(map[string]value.Value{"c": value.Null}), true},
		"absent item":    {"x := input", value.NewList([]value.Value{value.None, value.OfInt(1)}), []any{int64(1)}},
		"time":           {"x := time.parse_rfc3339_ns(input.t)", value.FromMap(map[string]value.Value{"t": value.OfTime(at)}), at.UnixNano()},
		"time text":      {"x := input", value.OfTime(at), "2026-07-01T00:00:00.000000005Z"},
		"duration":       {"x := time.parse_duration_ns(input)", value.OfDuration(90 * time.Second), int64(90e9)},
		"every":          {"x if every i in input { i > 0 }", of([]any{int64(1), int64(2)}), true},
		"bounded calls":  {"x := concat(\",\", [sprintf(\"%03d|%s|%v\", [7, \"a\", [1]]), replace(\"aba\", \"a\", \"c\"), json.marshal({\"a\": 1}), upper(\"x\")])", value.Null, `007|a|[1],cbc,{"a":1},X`},
		"glob and regex": {"x := [glob.match(\"a.*\", [\".\"], \"a.b\"), regex.match(\"^a+$\", \"aab\"), \"a\" in [\"a\"], {1} - {1}]", value.Null, []any{true, false, true, []any{}}},
		"doubles":        {"x := sprintf(\"%.2f %.1f %v %d\", [input.a, input.b, input.a, input.c])", value.FromMap(map[string]value.Value{"a": value.OfDouble(1), "b": value.OfDouble(2.5), "c": value.OfInt(3)}), "1.00 2.5 1 3"},
		"with":           {"x := z if z := y with input as {\"a\": 2}\ny := input.a", value.Null, int64(2)},
		"else":           {"x := 1 if input.a\nelse := 2", of(map[string]any{}), int64(2)},
		"units":          {"x := [units.parse_bytes(\"1Ki\"), semver.compare(\"1.2.0\", \"1.10.0\"), to_number(\"12\"), net.cidr_contains(\"10.0.0.0/8\", \"10.1.1.1\")]", value.Null, []any{int64(1024), int64(-1), int64(12), true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := eval(t, c.rules, c.input)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, value.Plain(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEvalErrors(t *testing.T) {
	t.Parallel()
	secret := of(map[string]any{"s": "s3cret", "n": 5.0, "m": map[string]any{"s3cret": int64(1)}})
	for name, c := range map[string]struct{ rules, want string }{
		"undefined":     {"x if input.missing", "policy.yaml:7:3: data.p.x is undefined for this input"},
		"conflict":      {"x := 1 if input.s\n\nx := 2 if input.n", "p.rego:4:1: data.p.x: rule data.p.x produced conflicting values"},
		"own conflict":  {"x := input.s if input.s\nx := input.n if input.n", "data.p.x: rule data.p.x produced conflicting values"},
		"in an object":  {"x[k] := v if some k, v in {\"a\": input.s}\nx[\"a\"] := input.n", "object keys must be unique"},
		"key conflict":  {"x := {k: v | some k, v in [1, 2]; true} if { y[\"a\"] == 1 }\ny[\"a\"] := z if some z in [1, 2]", "produced conflicting values"},
		"builtin":       {"x := time.parse_rfc3339_ns(input.s)", "p.rego:2:6: data.p.x: time.parse_rfc3339_ns cannot work with the value that it is given"},
		"guarded":       {"x := units.parse(input.s)", "p.rego:2:6: data.p.x: units.parse cannot work with the value that it is given"},
		"type":          {"x := upper(input.n)", "p.rego:2:6: data.p.x: upper: operand 1 must be string but got number"},
		"element":       {"x := concat(\",\", [input.n])", "p.rego:2:6: data.p.x: concat: operand 2 must be array of strings but got array containing number"},
		"version":       {"x := semver.compare(input.s, \"1.0.0\")", "p.rego:2:6: data.p.x: semver.compare"},
		"bad pattern":   {"x if regex.match(concat(\"\", [\"(\", input.s]), \"a\")", "p.rego:2:6: data.p.x: regex.match cannot work with the value that it is given"},
		"keys":          {"x := {1: 2}", "policy.yaml:7:3: data.p.x: the keys of an object must be strings, not number"},
		"swallowed not": {"x if not time.parse_rfc3339_ns(input.s)", "time.parse_rfc3339_ns cannot work"},
		"large number":  {"x := json.unmarshal(\"1e999999999\")", "json.unmarshal cannot work with the value that it is given"},
		"squares":       {squares("9"), "it takes more than 50000 steps"},
		"exponents":     {squares("1e9999"), "it takes more than 50000 steps"},
		"product":       {"x := product([n | some a in numbers; some b in numbers; n := a + b + 10000000000000000000])\nnumbers := [" + strings.Repeat("1, ", 200) + "1]", "it takes more than 50000 steps"},
		"division":      {"x := 1 / (input.n - 5)", "p.rego:2:6: data.p.x: div cannot work with the value that it is given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := eval(t, c.rules, secret)
			if err == nil {
				t.Fatalf("it gave %v", value.Plain(got))
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "bounded.") {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if _, ok := errors.AsType[*expr.Failure](err); !ok {
				t.Errorf("%T is no failure", err)
			}
		})
	}
}

// squares returns rules that square a number 25 times: 33 million digits for each of its own.
func squares(number string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "x0 := %s\n", number)
	for i := range 25 {
		fmt.Fprintf(&b, "x%d := x%d * x%d\n", i+1, i, i)
	}
	return b.String() + "x := x25 > 0"
}

func TestEvalUndefinedIsTyped(t *testing.T) {
	t.Parallel()
	if _, err := eval(t, "x if input.missing", value.Empty); !errors.Is(err, ErrUndefined) {
		t.Errorf("%v", err)
	}
}

func TestEvalCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := mustQuery(t, mustCompile(t, "x := 1"), "data.p.x")
	if _, err := q.Eval(ctx, expr.NewMeter(ctx), now, value.Null); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestEvalCounts checks that two runs cost the same, and more for a larger
// input.
func TestEvalCounts(t *testing.T) {
	t.Parallel()
	q := mustQuery(t, mustCompile(t, "x := [i | some i in input; i > 1]"), "data.p.x")
	cost := func(items int) uint64 {
		list := make([]any, items)
		for i := range list {
			list[i] = int64(i)
		}
		meter := expr.NewMeter(t.Context())
		if _, err := q.Eval(t.Context(), meter, now, of(list)); err != nil {
			t.Fatal(err)
		}
		return meter.Spent()
	}
	if a, b, c := cost(10), cost(10), cost(100); a != b || c < 5*a {
		t.Errorf("%d, %d, %d", a, b, c)
	}
}

func TestEvalMeter(t *testing.T) {
	t.Parallel()
	q := mustQuery(t, mustCompile(t, "x := input"), "data.p.x")
	meter := expr.NewMeter(t.Context())
	if err := meter.Spend(expr.EvaluationCost); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Eval(t.Context(), meter, now, value.Null); !errors.Is(err, expr.ErrBudget) {
		t.Errorf("%v", err)
	}
}

func TestEvalConcurrently(t *testing.T) {
	t.Parallel()
	q := mustQuery(t, mustCompile(t, "x := sum([i | some i in input])"), "data.p.x")
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 50 {
				v, err := q.Eval(t.Context(), expr.NewMeter(t.Context()), now, of([]any{int64(n), int64(1)}))
				if err != nil || v != value.OfInt(int64(n+1)) {
					t.Errorf("%v, %v", v, err)
				}
			}
		})
	}
	wg.Wait()
}

func shipped(t testing.TB) Module {
	t.Helper()
	text, err := os.ReadFile("../../../policies/kmm-node-modules.rego")
	if err != nil {
		t.Fatal(err)
	}
	return Module{Name: "kmm-node-modules.rego", Text: string(text)}
}

func TestDecisionTable(t *testing.T) {
	t.Parallel()
	library, problems, _ := Compile(Local(), []Module{shipped(t)})
	if library == nil {
		t.Fatal(problems)
	}
	q := mustQuery(t, library, "data.kmm.nmc.decision")
	if warnings := library.Lint(q); len(warnings) > 0 {
		t.Error(warnings)
	}
	config := func(kernel string) map[string]any {
		return map[string]any{"config": map[string]any{"kernelVersion": kernel}}
	}
	loaded := func(kernel, at string) map[string]any {
		out := config(kernel)
		out["lastTransitionTime"] = at
		return out
	}
	for want, c := range map[string]map[string]any{
		"load":   {"schedulable": true, "kernel": "a", "spec": config("a")},
		"unload": {"schedulable": true, "kernel": "a", "status": config("a")},
		"drop":   {"nodeReady": true, "kernel": "b", "status": config("a")},
		"none": {
			"schedulable": true, "kernel": "a", "readySince": "2026-01-01T00:00:00Z",
			"spec": config("a"), "status": loaded("a", "2026-01-02T00:00:00Z"),
		},
	} {
		v, err := q.Eval(t.Context(), expr.NewMeter(t.Context()), now, of(c))
		if err != nil || v != value.OfString(want) {
			t.Errorf("%s: got %v, %v", want, v, err)
		}
		if _, err := (Result{Query: q.text, Enum: []string{"load", "unload", "drop", "none"}}).Take(v); err != nil {
			t.Error(err)
		}
	}
}

func TestRunTests(t *testing.T) {
	t.Parallel()
	results, problems := RunTests(t.Context(), Local(), []Module{
		{Name: "p.rego", Text: "package p\nx := 2 if input.a\ny := to_number(input.a)"},
		{Name: "p_test.rego", Text: `package p_test
import data.p
test_ok if p.x == 2 with input as {"a": 1}
test_bad if {
	input.q with input as {"q": 1}
	p.x == 3 with input as {"a": 1}
}
test_error if p.y == 1 with input as {"a": "q"}
test_false := false
other := 1`},
	})
	var got []string
	for _, r := range results {
		if r.Duration <= 0 || r.Pass != (r.Failure == "") {
			t.Errorf("%+v", r)
		}
		got = append(got, r.Location.String()+" "+r.Name+" "+r.Failure)
	}
	want := []string{
		"p_test.rego:3:1 p_test.test_ok ",
		"p_test.rego:4:1 p_test.test_bad p_test.rego:6:2: does not hold: p.x == 3 with input as {\"a\": 1}",
		"p_test.rego:8:1 p_test.test_error p.rego:3:6: data.p_test.test_error: to_number cannot work with the value that it is given",
		"p_test.rego:9:1 p_test.test_false p_test.rego:9:1: data.p_test.test_false is not true",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Error(diff, problems)
	}
	if _, problems := RunTests(t.Context(), Local(), []Module{{Name: "p_test.rego", Text: "package p\ntest_x if print(1)"}}); !document.HasErrors(problems) {
		t.Error("a test prints")
	}
}

package rego

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/expr"
)

// chain writes rules v0 .. vN, each made of the one before.
func chain(first, next string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "v0 := %s\n", first)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "v%d := %s\n", i, strings.ReplaceAll(next, "V", fmt.Sprintf("v%d", i-1)))
	}
	return b.String()
}

// calls writes functions f0 .. fN, each calling the next with its argument
// doubled.
func calls(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d(a) := f%d([a, a])\n", i, i+1)
	}
	fmt.Fprintf(&b, "f%d(a) := count(a)\nx := f0([input])\n", n)
	return b.String()
}

// nested writes comprehensions v0 .. v8, each naming the one before nine times.
func nested(v string) string {
	var b strings.Builder
	inner := "input"
	for i := range 9 {
		fmt.Fprintf(&b, "%s%d := [%s | some i in [1, 2, 3, 4, 5, 6, 7, 8, 9]; i > 0]\n", v, i, inner)
		inner = fmt.Sprintf("%s%d", v, i)
	}
	return b.String()
}

// bombs are rules that would take all time or memory, with the limit that is
// to stop them.
var bombs = map[string]struct{ rules, want string }{
	"cross product":      {"x := count([1 | some a in input; some b in input; some c in input; a + b == c])", "it takes more than 50000 steps"},
	"comprehension":      {"x := [[a, b, c] | some a in input; some b in input; some c in input]", "it takes more than 50000 steps"},
	"object product":     {"x := {sprintf(\"%v%v\", [a, b]): input | some a in input; some b in input}", "it takes more than 50000 steps"},
	"rules":              {chain("[input]", "array.concat(V, [V, V])", 30) + "x := v30", "it builds a value of more than 250000 nodes"},
	"objects":            {chain("{\"a\": input}", "object.union(V, {\"a\": V, \"b\": V})", 30) + "x := v30", "it builds a value of more than 250000 nodes"},
	"wide rules":         {chain("[input]", "array.concat([], ["+strings.Repeat("V, ", 1000)+"V])", 4) + "x := v4", "it builds a value of more than 250000 nodes"},
	"marshal":            {"x := json.marshal([" + strings.Repeat("input, ", 40) + "input])", "it builds a text of more than 1048576 bytes"},
	"marshal rules":      {chain("[input]", "array.concat(V, [V, V])", 30) + "x := json.marshal(v30)", "it builds a value of more than 250000 nodes"},
	"compare":            {chain("[input]", "array.slice([V, V], 0, 2)", 30) + strings.ReplaceAll(chain("[input]", "array.slice([V, V], 0, 2)", 30), "v", "w") + "x if v30 == w30", "it builds a value of more than 250000 nodes"},
	"result":             {chain("[1]", "array.slice([V, V], 0, 2)", 16) + "x := v16", "the result is larger than allowed"},
	"calls":              {calls(30), "it builds a value of more than 250000 nodes"},
	"nested calls":       {"g(a) := [a, a]\nx := count(" + strings.Repeat("g(", 30) + "[input]" + strings.Repeat(")", 30) + ")", "it builds a value of more than 250000 nodes"},
	"concat":             {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 30) + "x := v30", "it builds a text of more than 1048576 bytes"},
	"sprintf":            {chain("\"aaaaaaaaaaaaaaaa\"", "sprintf(\"%s%s\", [V, V])", 30) + "x := v30", "it builds a text of more than 1048576 bytes"},
	"replace":            {chain("\"aaaaaaaaaaaaaaaa\"", "replace(V, \"a\", \"aa\")", 30) + "x := v30", "it builds a text of more than 1048576 bytes"},
	"replace_n":          {chain("\"aaaaaaaaaaaaaaaa\"", "strings.replace_n({\"a\": \"aa\"}, V)", 30) + "x := v30", "it builds a text of more than 1048576 bytes"},
	"many texts":         {"x := [concat(\"\", [sprintf(\"%99999d\", [a]), sprintf(\"%v\", [b])]) | some a in input; some b in input]", "it takes more than 50000 steps"},
	"width":              {"x := sprintf(\"" + strings.Repeat("%999999d", 100) + "\", [1])", "it builds a text of more than 1048576 bytes"},
	"star":               {"x := sprintf(\"%*d\", [999999, 1])", "a format with * or ["},
	"arrays":             {chain("[1]", "array.concat(V, V)", 30) + "x := v30", "it takes more than 50000 steps"},
	"split":              {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 15) + "x := split(v15, \"\")", "it builds a value of more than 250000 nodes"},
	"squares":            {chain("3", "V * V", 40) + "x := v40", "it calculates with a number of more than 400 digits"},
	"to_number":          {"x := floor(to_number(\"1e999999999\"))", "it reads a number of more than 400 digits"},
	"units":              {"x := units.parse(\"1e999999999\")", "it reads a number of more than 400 digits"},
	"unmarshal":          {"x := json.unmarshal(concat(\"\", [\"[\", concat(\",\", [\"0\" | some a in input; some b in input]), \"]\"]))", "it takes more than 50000 steps"},
	"unmarshal text":     {chain("\"0,0,0,0,0,0,0,0,\"", "concat(\"\", [V, V])", 15) + "x := json.unmarshal(concat(\"\", [\"[\", v15, \"0]\"]))", "it reads a value of more than"},
	"regular expression": {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 14) + "x := regex.match(\"((a?){30}){30}a{900}b\", v14)", "it uses a pattern of more than 10000 instructions"},
	"long match":         {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 14) + "x := regex.match(\"(a?){500}a{900}b\", v14)", "it matches a text that is too long for its pattern"},
	"long pattern":       {"x := regex.match(\"" + strings.Repeat("a?", 5000) + "\", \"a\")", "it uses a pattern of more than 256 bytes"},
	"long glob":          {"x := glob.match(\"" + strings.Repeat("*a", 5000) + "\", [], \"a\")", "it uses a pattern of more than 256 bytes"},
	"unions":             {"x := object.union_n([{sprintf(\"%v %v\", [a, b]): input} | some a in input; some b in input])", "it takes more than 50000 steps"},
	"members":            {"x := [a | some a in input; some b in input; a in input; b in input; -1 in input]", "it takes more than 50000 steps"},
	"sort":               {"x := [sort(input) | some a in input; some b in input]", "it takes more than 50000 steps"},
	"lookups":            {"x := [a | some a in input; some b in input; not missing(b)]\nmissing(b) if input[_] == sprintf(\"%v\", [b])", "it takes more than 50000 steps"},
	"hidden loops":       {"x := [a | some a in input; some b in input; not at(-1 - b)]\nat(b) if input[_] == b", "it takes more than 50000 steps"},
	"local literals":     {"x if {\n" + nested("a") + nested("b") + "a8 == b8\n}", "it builds a value of more than 250000 nodes"},
	"local sets":         {"x := count({a8, b8}) if {\n" + nested("a") + nested("b") + "}", "it builds a value of more than 250000 nodes"},
	"joined sets":        {"x := union({s | some a in input; s := {[a, b] | some b in [1, 2, 3, 4, 5, 6, 7, 8]}})", "it joins sets of more than 5000 items"},
}

// TestBombs gives the evaluator all the time it wants: what stops a bomb must
// not depend on the machine. It is not parallel, because it measures what a
// bomb allocates before it is stopped.
func TestBombs(t *testing.T) {
	items := make([]any, 1000)
	for i := range items {
		items[i] = int64(i)
	}
	input, _, err := toTerm(of(items))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range bombs {
		t.Run(name, func(t *testing.T) {
			q := mustQuery(t, mustCompile(t, c.rules), "data.p.x")
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			out, err := q.run(&limiter{ctx: t.Context()}, now, input)
			if err == nil {
				_, err = fromTerm(out)
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%s: %v, %d MiB allocated: %v", name, took.Round(10*time.Microsecond), allocated, err)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if allocated > 1024 || took > 10*time.Second {
				t.Errorf("it took %v and allocated %d MiB", took, allocated)
			}
		})
	}
}

// TestDeadline gives a bomb the time of an evaluation, and none at all.
func TestDeadline(t *testing.T) {
	t.Parallel()
	q := mustQuery(t, mustCompile(t, "x := count([1 | some a in input; some b in input; some c in input])"), "data.p.x")
	colliding := mustQuery(t, mustCompile(t, "x := {{[a, b]} | some a, _ in input; some b, _ in input}"), "data.p.x")
	list := of(make([]any, 1000))
	terms, _, err := toTerm(list)
	if err != nil {
		t.Fatal(err)
	}
	short, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if _, err := colliding.run(&limiter{ctx: short}, now, terms); !errors.Is(err, expr.ErrTime) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	_, err = q.run(&limiter{ctx: ctx}, now, ast.ArrayTerm())
	if !errors.Is(err, expr.ErrTime) {
		t.Errorf("%v", err)
	}
}

package bombs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/child"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/budget"
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

// What becomes of a bomb.
const (
	steps = "it takes more than 50000 steps: more than an evaluation of Rego may"
	// manySteps are some that take long.
	manySteps = steps + "|" + ended
	result    = "the result is larger than allowed|" + ended
	function  = "cannot work with the value that it is given"
	fine      = "" // it takes little after all
	// either is that it comes to an end in the time that it has, or not.
	either = ended + "|^$"
	// ended is that the child was ended: whether by its memory or by the time is
	// a matter of the machine.
	ended = "it needs more than the 192 MiB of memory that the process that evaluates Rego may have|it took longer than "
)

// regoBombs are rules that would take all time or memory.
var regoBombs = map[string]struct{ rules, want string }{
	"cross product":         {"x := count([1 | some a in input; some b in input; some c in input; a + b == c])", steps},
	"comprehension":         {"x := [[a, b, c] | some a in input; some b in input; some c in input]", steps},
	"object product":        {"x := {sprintf(\"%v%v\", [a, b]): input | some a in input; some b in input}", manySteps},
	"rules":                 {chain("[input]", "array.concat(V, [V, V])", 30) + "x := v30", result},
	"objects":               {chain("{\"a\": input}", "object.union(V, {\"a\": V, \"b\": V})", 30) + "x := v30", ended},
	"wide rules":            {chain("[input]", "array.concat([], ["+strings.Repeat("V, ", 1000)+"V])", 4) + "x := v4", result},
	"marshal":               {"x := json.marshal([" + strings.Repeat("input, ", 40) + "input])", fine},
	"marshal rules":         {chain("[input]", "array.concat(V, [V, V])", 30) + "x := json.marshal(v30)", ended},
	"compare":               {chain("[input]", "array.slice([V, V], 0, 2)", 30) + strings.ReplaceAll(chain("[input]", "array.slice([V, V], 0, 2)", 30), "v", "w") + "x if v30 == w30", ended},
	"result":                {chain("[1]", "array.slice([V, V], 0, 2)", 16) + "x := v16", result},
	"calls":                 {calls(30), ended},
	"nested calls":          {"g(a) := [a, a]\nx := count(" + strings.Repeat("g(", 30) + "[input]" + strings.Repeat(")", 30) + ")", ended},
	"concat":                {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 30) + "x := v30", ended},
	"sprintf":               {chain("\"aaaaaaaaaaaaaaaa\"", "sprintf(\"%s%s\", [V, V])", 30) + "x := v30", ended},
	"replace":               {chain("\"aaaaaaaaaaaaaaaa\"", "replace(V, \"a\", \"aa\")", 30) + "x := v30", steps},
	"replace_n":             {chain("\"aaaaaaaaaaaaaaaa\"", "strings.replace_n({\"a\": \"aa\"}, V)", 30) + "x := v30", steps},
	"many texts":            {"x := [concat(\"\", [sprintf(\"%99999d\", [a]), sprintf(\"%v\", [b])]) | some a in input; some b in input]", ended},
	"width":                 {"x := sprintf(\"" + strings.Repeat("%999999d", 100) + "\", [1])", fine},
	"star":                  {"x := sprintf(\"%*d\", [999999, 1])", fine},
	"arrays":                {chain("[1]", "array.concat(V, V)", 30) + "x := v30", ended},
	"split":                 {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 15) + "x := split(v15, \"\")", result},
	"split_n":               {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 15) + "x := strings.split_n(v15, \"\", 999999)", result},
	"positions":             {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 15) + "x := indexof_n(v15, \"a\")", result},
	"bits":                  {"x := bits.or(to_number(\"1e999999999\"), 1)", function},
	"squares":               {chain("3", "V * V", 40) + "x := v40", steps},
	"to_number":             {"x := floor(to_number(\"1e999999999\"))", function},
	"units":                 {"x := units.parse(\"1e999999999\")", function},
	"unmarshal":             {"x := json.unmarshal(concat(\"\", [\"[\", concat(\",\", [\"0\" | some a in input; some b in input]), \"]\"]))", steps},
	"unmarshal text":        {chain("\"0,0,0,0,0,0,0,0,\"", "concat(\"\", [V, V])", 15) + "x := json.unmarshal(concat(\"\", [\"[\", v15, \"0]\"]))", result},
	"regular expression":    {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 14) + "x := regex.match(\"((a?){30}){30}a{900}b\", v14)", ended},
	"long match":            {chain("\"aaaaaaaaaaaaaaaa\"", "concat(\"\", [V, V])", 14) + "x := regex.match(\"(a?){500}a{900}b\", v14)", ended},
	"long pattern":          {"x := regex.match(\"" + strings.Repeat("a?", 5000) + "\", \"a\")", fine},
	"long glob":             {"x := glob.match(\"" + strings.Repeat("*a", 5000) + "\", [], \"a\")", fine},
	"unions":                {"x := object.union_n([{sprintf(\"%v %v\", [a, b]): input} | some a in input; some b in input])", steps},
	"members":               {"x := [a | some a in input; some b in input; a in input; b in input; -1 in input]", manySteps},
	"sort":                  {"x := [sort(input) | some a in input; some b in input]", manySteps},
	"lookups":               {"x := [a | some a in input; some b in input; not missing(b)]\nmissing(b) if input[_] == sprintf(\"%v\", [b])", manySteps},
	"hidden loops":          {"x := [a | some a in input; some b in input; not at(-1 - b)]\nat(b) if input[_] == b", manySteps},
	"local literals":        {"x if {\n" + nested("a") + nested("b") + "a8 == b8\n}", ended},
	"local sets":            {"x := count({a8, b8}) if {\n" + nested("a") + nested("b") + "}", either},
	"joined sets":           {"x := union({s | some a in input; s := {[a, b] | some b in [1, 2, 3, 4, 5, 6, 7, 8]}})", either},
	"unification":           {"x if {\n" + doubled("a") + doubled("b") + "a30 = b30\n}", ended},
	"nested comprehensions": {"x := " + strings.Repeat("[1 | ", 40) + "true" + strings.Repeat("]", 40), "comprehensions are nested too deep"},
	"nested heads":          {"x := " + strings.Repeat("{", 20) + "1" + strings.Repeat(": 1 | true}", 20), "comprehensions are nested too deep"},
	"backwards":             {backwards(1500), "a body has 1501 expressions, at most 200 are read"},
	"no bound":              {"x if lower(\"A\") == \"b\" with lower as \"b\"", fine},
	"types":                 {chain("[1]", "[V, V]", 30) + "x := v30", "the type of v10 is too large"},
	"compared types":        {chain("[1]", "[V, V]", 30) + strings.ReplaceAll(chain("[1]", "[V, V]", 30), "v", "w") + "x if v30 == w30", "the type of v10 is too large"},
}

// alike are bombs that take memory as others do.
var alike = map[string]bool{
	"objects": true, "marshal rules": true, "nested calls": true, "sprintf": true, "arrays": true, "many texts": true, "long match": true, "compare": true, "lookups": true,
}

// doubled writes variables v0 .. v30 of one rule, each twice the one before.
func doubled(v string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s0 := [input]\n", v)
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&b, "%s%d := [%s%d, %s%d]\n", v, i, v, i-1, v, i-1)
	}
	return b.String()
}

// backwards writes n variables of one rule, each made of the two after it.
func backwards(n int) string {
	var b strings.Builder
	b.WriteString("x if {\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d = [a%d, a%d]\n", i, i+1, i+2)
	}
	fmt.Fprintf(&b, "[a%d, a%d] = input\n}", n, n+1)
	return b.String()
}

// numbers is a list of a thousand numbers.
func numbers() value.Value {
	items := make([]value.Value, 1000)
	for i := range items {
		items[i] = value.OfInt(int64(i))
	}
	return value.NewList(items)
}

// ask compiles rules of a package p with an evaluator and asks for data.p.x.
func ask(ctx context.Context, in rego.Evaluator, rules string, input value.Value) (value.Value, *expr.Meter, error) {
	meter := expr.NewMeter(ctx)
	library, problems, _ := rego.Compile(in, []rego.Module{{Name: "p.rego", Text: "package p\n" + rules}})
	if library == nil {
		return nil, meter, fmt.Errorf("compile: %w", document.Join(problems))
	}
	q, problem := library.Query("data.p.x", document.Position{File: "policy.yaml"})
	if problem != nil {
		return nil, meter, problem
	}
	v, err := q.Eval(ctx, meter, time.Unix(0, 0), input)
	return v, meter, err
}

// TestMain is the process that evaluates Rego, too: this binary itself, asked to
// serve.
func TestMain(m *testing.M) {
	if len(os.Args) != 3 || os.Args[1] != "serve" {
		os.Exit(m.Run())
	}
	memory, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err == nil {
		err = child.Serve(os.Stdin, os.Stdout, memory, map[string]expr.Handler{rego.Service: (&rego.Programs{}).Handle})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// regoMemory is what the process that evaluates Rego may have.
const regoMemory = 192 << 20

// regoProcess makes an evaluator with a real process, as the controller has.
func regoProcess(t testing.TB, within time.Duration) rego.Evaluator {
	t.Helper()
	c := child.New(child.Options{Process: "the process that evaluates Rego", Command: []string{os.Args[0], "serve", strconv.Itoa(regoMemory)}, Memory: regoMemory})
	t.Cleanup(c.Close)
	return rego.NewPausing(c.Service(rego.Service, within), func() {}, time.Now)
}

// TestRego: whatever a module asks for, it gets an answer or an error, this
// process needs little for it, and the next module is answered as if nothing had
// been. What does not end by itself has less time in the default run, and of those that
// end in the same way only a few are run.
func TestRego(t *testing.T) {
	patient := regoProcess(t, 2*time.Second)
	hasty := patient
	if !budget.Long() {
		hasty = regoProcess(t, time.Second/2)
	}
	for name, c := range regoBombs {
		if alike[name] && !budget.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			e := patient
			if c.want == ended {
				e = hasty
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := ask(t.Context(), e, c.rules, numbers())
			runtime.ReadMemStats(&after)
			t.Log(err)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if !regexp.MustCompile(c.want).MatchString(said) || c.want == fine && err != nil {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 32 {
				t.Errorf("%d MiB were allocated in this process", allocated)
			}
			if v, _, err := ask(t.Context(), e, "x := count(input)", numbers()); err != nil || v != value.OfInt(1000) {
				t.Errorf("the next one: %v, %v", v, err)
			}
		})
	}
}

// TestLargestInput: what is within the limits of an input and of a result works
// in the process with its limit.
func TestLargestInput(t *testing.T) {
	items := make([]value.Value, 0, rego.MaxInputNodes)
	for i := range rego.MaxInputNodes/4 - 1 {
		items = append(items, value.FromMap(map[string]value.Value{"name": value.OfString(fmt.Sprintf("%0100d", i)), "n": value.OfInt(int64(i)), "ok": value.OfBool(i%2 == 0)}))
	}
	v, _, err := ask(t.Context(), regoProcess(t, rego.MaxTime), "x := count({i.name | some i in input; i.n >= 0})", value.NewList(items[:10_000]))
	if err != nil || v != value.OfInt(10_000) {
		t.Errorf("%v, %v", v, err)
	}
	if v, _, err = ask(t.Context(), regoProcess(t, rego.MaxTime), "x := sum([1 | input[_].ok == true])", value.NewList(items)); err != nil || v != value.OfInt(rego.MaxInputNodes/8) {
		t.Errorf("%v, %v", v, err)
	}
}

// besides are two policies about the same objects: one whose Rego takes all
// memory, and one that goes on.
const besides = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: greedy}
spec:
  for: {apiVersion: v1, kind: ConfigMap, namespaces: [d]}
  variables:
    - name: x
      rego:
        query: data.p.x
        input: "${object.metadata.name}"
        module: |
          package p
          v0 := [input]
          f(a) := array.concat(a, array.concat(a, a))
          v5 := f(f(f(f(f(v0)))))
          v10 := f(f(f(f(f(v5)))))
          x := count(f(f(f(f(f(f(v10)))))))
  rules:
    - name: r
      when: variables.x == 0
      do: [{labels: {set: {greedy: "yes"}}}]
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: modest}
spec:
  for: {apiVersion: v1, kind: ConfigMap, namespaces: [d]}
  variables:
    - name: x
      rego: {query: data.q.x, input: "${object.metadata.name}", result: {enum: [o0, o1, o2]}, module: "package q\nx := input\n"}
  rules:
    - name: r
      do: [{labels: {set: {modest: "${variables.x}"}}}]
`

// TestRegoBesideOthers: a policy whose module takes all memory has an error for
// each object, whenever it is decided about, and the other policy goes on.
func TestRegoBesideOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	if err := os.WriteFile(file, []byte(besides), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{file}, source.Options{Rego: regoProcess(t, rego.MaxTime)})
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	var objects []simulate.Object
	for i := range 3 {
		objects = append(objects, configMap("d", fmt.Sprint("o", i), nil))
	}
	world := simulate.New(t.Context(), simulate.Options{Policies: b.Policies, Schemas: b.Schemas, Objects: objects, Start: time.Unix(0, 0)})
	world.Settle(t.Context())
	result := world.Result()
	failed, decided := 0, 0
	for _, e := range result.Errors {
		if e.Policy == "greedy" && strings.Contains(e.Message, "it needs more than the 192 MiB of memory") {
			failed++
		}
	}
	for _, w := range result.Effects {
		if w.Policy == "modest" {
			decided++
		}
	}
	if failed < 3 || failed != len(result.Errors) || decided != 3 {
		t.Errorf("%d failed, %d decided: %v", failed, decided, result.Errors)
	}
}

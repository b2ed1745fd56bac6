package cel

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// bomber declares the values that the bombs below are made of.
func bomber(t *testing.T) (*Env, names) {
	t.Helper()
	env := declared(t, Var{"d", DynType}, Var{"n", ListOf(IntType)}, Var{"s", StringType}, Var{"big", StringType})
	return env, names{
		"d": value.OfString("x"), "n": numbers(1000), "s": value.OfString(strings.Repeat("a", 1000)),
		"big": value.OfString(strings.Repeat("a", value.MaxResultBytes)),
	}
}

// chain hangs one call behind another.
func chain(start, call string, n int) string { return start + strings.Repeat(call, n) }

// TestBombsAreRefused: what cannot be bounded while it runs is refused by its
// shape, before it runs.
func TestBombsAreRefused(t *testing.T) {
	t.Parallel()
	env, _ := bomber(t)
	nested := "1"
	for range 12 {
		nested = "[1].map(x, " + nested + ")"
	}
	for name, tc := range map[string]struct{ source, want string }{
		"doubling a text over chained loops": {chain("[d]", ".map(x, x + x)", 24), "nested here, with those of loops"},
		"doubling a text by bind":            {`cel.bind(a, d + d, cel.bind(b, a + a, b + b))`, `no function is called "cel.bind"`},
		"doubling a text in brackets":        {strings.Repeat("(d + ", 100) + "d" + strings.Repeat(")", 100), "expression recursion limit exceeded"},
		"sharing a list many times":          {chain("[n]", ".map(x, [x, x, x, x, x, x, x, x, x])", 2), "this copies one value 81 times over, at most 64 are allowed"},
		"sharing a list with itself":         {chain("[n]", ".map(x, [x, x, x, x, x])", 3) + " == " + chain("[n]", ".map(x, [x, x, x, x, x])", 3), "this copies one value 125 times over"},
		"sharing a list in maps":             {chain(`{"k": n}`, `.transformMap(k, v, [v, v, v, v, v, v, v, v, v])`, 2), "this copies one value 81 times over"},
		"sharing a list by sums":             {chain("[n]", ".map(x, x + x + x + x + x + x + x + x + x + x)", 2), "this copies one value 100 times over"},
		"100 KB of text":                     {strings.Repeat("x", 100<<10), "the expression has 102400 bytes, at most 4096 are allowed; split it into variables"},
		"300 brackets":                       {strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), "expression recursion limit exceeded: 100"},
		"300 lists":                          {strings.Repeat("[", 300) + strings.Repeat("]", 300), "expression recursion limit exceeded: 100"},
		"300 conditionals":                   {strings.Repeat("true ? 1 : ", 300) + "1", "expression recursion limit exceeded: 100"},
		"doubling in a fold":                 {`[n, n].fold(acc, [n], x, acc + acc)`, "acc may stand once only in a list, a map or a sum"},
		"doubling in the lists of a fold":    {`[n, n].fold(acc, [[n]], x, [acc[0], acc[0]])`, "acc may stand once only in a list, a map or a sum"},
		"doubling in the maps of a fold":     {`[n, n].fold(acc, dyn(n), x, dyn({"a": acc, "b": acc}))`, "acc may stand once only in a list, a map or a sum"},
		"doubling in the fields of a fold":   {`[n, n].fold(acc, {"a": dyn(n)}, x, {"a": dyn([acc.a, acc.a])})`, "acc may stand once only in a list, a map or a sum"},
		"doubling between fields":            {`[n, n].fold(acc, {"a": n, "b": n}, x, {"a": acc.b, "b": acc.a + acc.b})`, "acc may stand once only in a list, a map or a sum"},
		"doubling a text in a fold":          {`[n, n].fold(acc, s, x, acc + acc)`, "acc may stand once only in a list, a map or a sum"},
		"doubling within an optional":        {`[n, n].fold(acc, [n], x, acc + acc.last().optMap(l, [l]).orValue(acc))`, "acc may stand once only in a list, a map or a sum"},
		"doubling under CEL's name":          {`[n, n].fold(__result__, [n], x, __result__ + __result__)`, "__result__ may stand once only in a list, a map or a sum"},
		"a fold without names":               {`[1].fold(1, 0, x, x)`, "fold takes two names"},
		"a fold with one name":               {`[1].fold(x, 0, x, x)`, "the two names of a fold must differ"},
		"12 nested loops":                    {nested, "nested here, with those of loops"},
		"7 chained loops":                    {chain("[1]", ".map(x, x)", 7), "7 bound variables stack up here, at most 5 may; split the expression into variables"},
		"4 nested loops":                     {"[1].map(a, [1].map(b, [1].map(c, [1].map(d, 1))))", "comprehension exceeds nesting limit"},
		"a chain of 101 sums":                {"1" + strings.Repeat(" + 1", 101), "max recursion depth exceeded"},
		"a pattern that is data":             {`s.matches(big)`, "a pattern must be a literal; pattern.search takes one that is data"},
		"a pattern that is put together":     {`s.matches("a" + "b")`, "a pattern must be a literal"},
		"a pattern of find that is data":     {`s.find(big)`, "a pattern must be a literal"},
		"a pattern of findAll that is data":  {`s.findAll(big, 3)`, "a pattern must be a literal"},
		"a pattern as an argument":           {`matches(s, big)`, "a pattern must be a literal"},
		"a pattern of 257 bytes":             {`s.matches("` + strings.Repeat("a", 257) + `")`, "a pattern may have 256 bytes, this has 257"},
		"5,000 optional atoms":               {`big.matches("` + strings.Repeat("a?", 5000) + `")`, "the expression has 10015 bytes, at most 4096 are allowed"},
		"1,000 optional atoms":               {`big.matches("` + strings.Repeat("a?", 1000) + `")`, "a pattern may have 256 bytes, this has 2000"},
		"a repetition of repetitions":        {`big.matches("(a{0,100}){0,20}")`, "invalid repeat count"},
		"a large pattern":                    {`big.matches("([ab]{0,100}){0,9}[cd]{0,900}")`, "the pattern has"},
		"a lookahead":                        {`s.matches("a(?=b)")`, "lookahead and backreferences are not part of it"},
		"an authorization check":             {`authorizer.group("")`, `undefined name "authorizer"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, message := wrong(env, tc.source)
			if p != nil || !strings.Contains(message, tc.want) {
				t.Errorf("refused is %v: %q, want %q", p == nil, message, tc.want)
			}
		})
	}
}

// TestBombsAreStopped: what may be said is cut off at a limit, with words that
// say which, and has allocated little until then.
func TestBombsAreStopped(t *testing.T) {
	env, scope := bomber(t)
	const long = "+: it would build a text longer than the limit of 4194304 bytes, this would have 8388608; build shorter texts, or name fewer parts"
	const costs, large = "the expression costs more than 1000000 units; split it, or use a collection", "the result is larger than allowed"
	for name, tc := range map[string]struct {
		source string
		want   []string
	}{
		"1,000 times 1,000":             {"n.map(a, n.filter(b, a == b).size()).size()", []string{costs}},
		"1,000 times 1,000 times 1,000": {"n.exists(a, n.exists(b, n.exists(c, a + b + c < 0)))", []string{costs}},
		"a search in a search":          {"n.map(a, n.map(b, big.contains('b')).size()).size()", []string{costs}},
		"doubling a long text":          {chain("[big]", ".map(x, x + x)", 3) + "[0].size()", []string{long}},
		"doubling an untyped text":      {chain("[[big]]", ".map(x, x + x)", 3), []string{large}},
		"a list over the limit":         {"n.map(a, big)", []string{large}},
		"one text many times":           {chain("[big]", ".map(x, [x, x, x, x, x, x, x, x])", 2), []string{large}},
		"a text over the limit":         {"big + 'b'", []string{large}},
		"a map over the limit":          {`{"a": big, "b": "c"}`, []string{large}},
		"doubling a text in a fold":     {`n.fold(acc, [s], x, ["%s%s".format([acc[0], acc[0]])]).size()`, []string{costs}},
		"a huge range":                  {"lists.range(60000000 + size(n))", []string{"exceeds maximum allowed (1000000)"}},
		"a large range":                 {"lists.range(1000000)", []string{costs}},
		"an expensive pattern":          {`big.matches("` + strings.Repeat("a?", 100) + `")`, []string{costs}},
		"a long text searched":          {"pattern.search('a', big)", []string{"the text has 1048576 bytes, at most 4096 are searched"}},
		"a long pattern that is data":   {"pattern.search(s, 'a')", []string{"the pattern has 1000 bytes, at most 256 are allowed"}},
		"a large value as JSON":         {"json.encode([big, big])", []string{large}},
	} {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, env, tc.source)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := run(t, p, scope)
			runtime.ReadMemStats(&after)
			if err == nil || !containsOne(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 128 {
				t.Errorf("%d MiB were allocated", allocated)
			}
		})
	}
}

func containsOne(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// TestSharedStructures within the limits are compared and searched once for
// every copy, not more.
func TestSharedStructures(t *testing.T) {
	t.Parallel()
	env, scope := bomber(t)
	shared := chain("[n]", ".map(x, [x, x, x, x, x, x, x, x])", 2)
	for _, source := range []string{shared + " == " + shared, shared + "[0] in " + shared, shared + " != " + shared} {
		p := compiled(t, env, source)
		if _, _, err := run(t, p, scope); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestWithinTheLimits: what policies need is not in the way of the limits.
func TestWithinTheLimits(t *testing.T) {
	t.Parallel()
	env, scope := bomber(t)
	for _, source := range []string{
		`n.slice(0, 100).filter(a, a > 3).map(a, a + 1).exists(a, a == 50)`,
		`n.slice(0, 100).map(a, {"name": string(a), "text": "x"}).size() == 100`,
		`n.slice(0, 100).map(a, string(a)).join(",").size() > 100`,
		`s.matches("^a+$")`,
		`!s.matches("^b{2}$")`,
		`s.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")`,
		`s.find("a{2,3}") == "aaa"`,
		`labels.matches("a in (` + strings.Repeat("b, ", 200) + `c)", {})`,
		`s.matches("` + strings.Repeat("a", 256) + `")`,
		`[1].map(a, [1].map(b, [1].map(c, a + b + c)))[0][0][0] == 3`,
		`n.slice(0, 100).fold(acc, [1], x, x in acc ? acc : acc + [size(acc)]).size() > 1`,
		`n.slice(0, 100).fold(acc, [s], x, acc.last().value() == "" ? acc : acc + [acc.last().value()]).size() == 101`,
		`n.slice(0, 100).fold(acc, {"a": 0, "b": 1}, x, {"a": acc.b, "b": (acc.a + acc.b) % 1000}).a > 0`,
		`"` + strings.Repeat("x", MaxExpression-2) + `"`,
		"true" + strings.Repeat(" || true", 300),
		strings.Repeat("(", 99) + "1" + strings.Repeat(")", 99),
	} {
		p := compiled(t, env, source)
		if _, _, err := run(t, p, scope); err != nil {
			t.Errorf("%.60s: %v", source, err)
		}
	}
}

// TestCostGrowsAsTheWork: ten times the list is about ten times the cost.
func TestCostGrowsAsTheWork(t *testing.T) {
	env := declared(t, Var{"n", ListOf(IntType)}, Var{"s", StringType})
	for _, source := range []string{
		"n.map(x, x + 1)", "n.filter(x, x > 3)", "n.exists(x, x < 0)", "n.sum()", "n.max()", "n.indexOf(-1)", "lists.range(size(n))",
		"s + s", `s.contains("b")`, `s.split("")`, "s.lowerAscii()", `s.matches("b$")`, "hash.sha256(s)", "hash.fnv1a128(s)", "json.encode(n)",
		"n.slice(0, size(n))", "n.reverse()",
	} {
		cost := func(size int) float64 {
			_, spent, err := run(t, compiled(t, env, source), names{"n": numbers(size), "s": value.OfString(strings.Repeat("a", size))})
			if err != nil {
				t.Errorf("%s over %d: %v", source, size, err)
			}
			return float64(spent)
		}
		if factor := cost(3000) / cost(300); factor < 3 || factor > 20 {
			t.Errorf("%s: ten times the list costs %.1f times as much", source, factor)
		}
	}
}

// TestEvaluationBudget: many runs together are bounded as well, and items of
// collections raise the bound.
func TestEvaluationBudget(t *testing.T) {
	t.Parallel()
	env, scope := bomber(t)
	p := compiled(t, env, "[1, 2, 3].map(x, x + 1).size()")
	for _, items := range []int{0, 100} {
		meter := expr.NewMeter(t.Context())
		defer meter.Close()
		meter.Grow(items)
		budget := uint64(expr.EvaluationCost + items*expr.ItemCost)
		if err := meter.Spend(budget - 100); err != nil {
			t.Fatalf("below the budget: %v", err)
		}
		var err error
		runs := 0
		for ; err == nil && runs < 10; runs++ {
			_, err = p.Eval(scope, meter)
		}
		want := fmt.Sprintf("the evaluation costs more than its limit of %d cost units", budget)
		if runs < 2 || err == nil || !containsOne(err.Error(), []string{want}) {
			t.Errorf("run %d over the budget: %v", runs, err)
		}
	}
}

// TestResultsAreSettled: what an expression built is immutable afterwards.
func TestResultsAreSettled(t *testing.T) {
	t.Parallel()
	env, scope := bomber(t)
	for source, want := range map[string]string{
		`[1, 2].map(x, x)`: "*value.List", `{"a": 1}`: "*value.Map", `[[1]][0]`: "*value.List", `n`: "*value.List", `"a"`: "types.String",
		`optional.of([1])`: "*types.Optional", `[{"a": [1]}]`: "*value.List", `n + n`: "*value.List", `1 > 0`: "types.Bool",
	} {
		v, _, err := run(t, compiled(t, env, source), scope)
		if got := fmt.Sprintf("%T", v); err != nil || got != want {
			t.Errorf("%s gives %s (%v), want %s", source, got, err, want)
		}
	}
	if v, _, _ := run(t, compiled(t, env, "n"), scope); v != scope["n"] {
		t.Error("what is handed on as it is was copied")
	}
}

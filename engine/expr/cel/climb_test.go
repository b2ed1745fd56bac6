package cel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
)

// tree is a text of the grammar: a form, in which each $ is a part.
type tree struct {
	form  string
	parts []*tree
}

func (t *tree) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *tree) write(b *strings.Builder) {
	for i, text := range strings.Split(t.form, "$") {
		if i > 0 {
			t.parts[i-1].write(b)
		}
		b.WriteString(text)
	}
}

// nodes lists a tree and all trees in it.
func (t *tree) nodes() []*tree {
	out := []*tree{t}
	for _, p := range t.parts {
		out = append(out, p.nodes()...)
	}
	return out
}

func (t *tree) clone() *tree {
	out := &tree{form: t.form}
	for _, p := range t.parts {
		out.parts = append(out.parts, p.clone())
	}
	return out
}

// climber finds the text of at most bytes that takes the most CPU time to compile.
type climber struct {
	*rand.Rand
	env           *Env
	leaves, forms []string
	bytes         int
	// accepted is whether texts count only if they compile.
	accepted bool
}

// newClimber returns a climber that knows the syntax, and some of the functions.
func newClimber(env *Env, seed uint64) *climber {
	c := &climber{
		Rand: rand.New(rand.NewPCG(seed, 0)), env: env, bytes: []int{1000, 2000, MaxExpression}[seed%3], accepted: seed%2 == 0,
		leaves: []string{"[]", "{}", "1", `""`, "x", "null", "true", "object", "object.spec", "inputs.byZone", "optional.none()", "params.label", "dyn(1)"},
		forms: []string{
			"[$]", "[$, $]", "[?$]", "{$: $}", "{?$: $}", "($ ? $ : $)", "$[$]", "$[?$]", "$.a", "$.?a", "has($.a)", "-$", "!$", "dyn($)",
			"($ == $)", "($ != $)", "($ && $)", "($ || $)", "($ + $)", "($ in $)", "($ < $)", "optional.of($)", "$.orValue($)", "$.or($)",
			"$.map(x, $)", "$.map(x, $, $)", "$.filter(x, $)", "$.all(x, $)", "$.exists(x, $)", "$.all(i, x, $)", "$.transformList(i, x, $)",
			"$.transformMap(i, x, $)", "$.transformMapEntry(i, x, $)", "$.sortBy(x, $)", "$.fold(y, $, x, $)", "$.optMap(x, $)", "$.optFlatMap(x, $)",
		},
	}
	calls := callForms(env)
	for range 10 * (seed % 5) {
		c.forms = append(c.forms, calls[c.IntN(len(calls))])
	}
	c.Shuffle(len(c.leaves), func(i, j int) { c.leaves[i], c.leaves[j] = c.leaves[j], c.leaves[i] })
	c.Shuffle(len(c.forms), func(i, j int) { c.forms[i], c.forms[j] = c.forms[j], c.forms[i] })
	c.leaves, c.forms = c.leaves[:1+c.IntN(len(c.leaves))], c.forms[:2+c.IntN(len(c.forms)-1)]
	return c
}

// callForms returns how the functions of an environment are called.
func callForms(env *Env) (out []string) {
	functions := env.base.Functions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if _, isOperator := operators.FindReverse(name); isOperator || strings.Contains(name, "@") || strings.HasPrefix(name, "_") {
			continue
		}
		for _, o := range functions[name].OverloadDecls() {
			if n := len(o.ArgTypes()); o.IsMemberFunction() {
				out = append(out, "$."+name+"("+commas(n-1)+")")
			} else {
				out = append(out, name+"("+commas(n)+")")
			}
		}
	}
	return slices.Compact(out)
}

// commas returns n places for parts.
func commas(n int) string { return strings.TrimSuffix(strings.Repeat("$, ", n), ", ") }

// grow returns a tree at random.
func (c *climber) grow(depth int) *tree {
	if depth == 0 || c.IntN(4) == 0 {
		return &tree{form: c.leaves[c.IntN(len(c.leaves))]}
	}
	return c.around(c.forms[c.IntN(len(c.forms))], func() *tree { return c.grow(depth - 1) })
}

func (c *climber) around(form string, part func() *tree) *tree {
	t := &tree{form: form}
	for range strings.Count(form, "$") {
		t.parts = append(t.parts, part())
	}
	return t
}

// change returns another tree: a part is replaced, copied from elsewhere, repeated in a row or
// a chain, or wrapped in a form.
func (c *climber) change(t *tree) *tree {
	t = t.clone()
	nodes := t.nodes()
	at := nodes[c.IntN(len(nodes))]
	from := nodes[c.IntN(len(nodes))].clone()
	switch c.IntN(6) {
	case 0:
		*at = *c.grow(1 + c.IntN(3))
	case 1:
		*at = *from
	case 2: // a row
		n := 2 + c.IntN(30)
		*at = *c.around("["+commas(n)+"]", from.clone)
	case 3: // a chain of operators or calls
		form := c.forms[c.IntN(len(c.forms))]
		for range 1 + c.IntN(30) {
			inner := at.clone()
			*at = *c.around(form, from.clone)
			if len(at.parts) > 0 {
				at.parts[0] = inner
			}
		}
	case 4:
		inner := at.clone()
		if *at = *c.around(c.forms[c.IntN(len(c.forms))], func() *tree { return c.grow(1) }); len(at.parts) > 0 {
			at.parts[c.IntN(len(at.parts))] = inner
		}
	default:
		at.form = strings.NewReplacer("x", "y", "[]", "{}", "==", "!=", "1", "[]").Replace(at.form)
	}
	return t
}

// costly is a text and the cost of compiling it.
type costly struct {
	text string
	took time.Duration
	// steps and problems count the steps of checking its types, and the errors.
	steps, problems int
}

// measure compiles a text a few times: the least CPU time counts.
func (c *climber) measure(t *testing.T, text string) costly {
	out := costly{text: text, took: time.Hour}
	for range 3 {
		var problems document.Problems
		budget := NewBudget()
		env := c.env.WithBudget(budget)
		before := processorTime(t)
		p := env.Compile(Text{Source: text}, &problems)
		took := processorTime(t) - before
		budget.Close()
		if c.accepted && p == nil {
			return costly{}
		}
		out.took, out.problems, out.steps = min(out.took, took), len(problems.List()), budget.steps
	}
	return out
}

// climb returns the costliest text of some rounds: the first fifth are random texts, the others
// change the costliest so far.
func (c *climber) climb(t *testing.T, rounds int) costly {
	best, top := c.grow(4), costly{}
	for n := range rounds {
		next := c.grow(4)
		if n > rounds/5 {
			next = c.change(best)
		}
		if text := next.String(); len(text) <= c.bytes {
			if found := c.measure(t, text); found.took > top.took {
				best, top = next, found
			}
		}
	}
	return top
}

// What compiling a text of [MaxExpression] bytes may take: some time in any case, and more for
// each step and problem.
const (
	timeOfText    = 100 * time.Millisecond
	timeOfStep    = 300 * time.Nanosecond
	timeOfProblem = 2 * time.Millisecond
)

// costlyTexts has the ten texts that cost most, as they were found, and their steps.
const costlyTexts = "testdata/costly.txt"

// TestTimeOfCostlyTexts climbs to the texts that take the most CPU time to compile: no more
// than is counted for them. EDICT_TEST_SEED gives others than the usual ones, and
// UPDATE_GOLDEN=1 writes the ten worst.
func TestTimeOfCostlyTexts(t *testing.T) {
	skipUnmeasured(t)
	seed, _ := strconv.ParseUint(os.Getenv("EDICT_TEST_SEED"), 10, 64)
	env := declared(t)
	var all []costly
	for i := range uint64(20) {
		top := newClimber(env, seed+i).climb(t, 500)
		all = append(all, top)
		t.Logf("seed %d: %d bytes, %v, %d steps, %d problems: %.150s", seed+i, len(top.text), top.took, top.steps, top.problems, top.text)
		if allowed := timeOfText + time.Duration(top.steps)*timeOfStep + time.Duration(top.problems)*timeOfProblem; top.took > allowed {
			t.Errorf("seed %d: it may take %v: %s", seed+i, allowed, top.text)
		}
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		return
	}
	slices.SortFunc(all, func(a, b costly) int { return int(b.took - a.took) })
	var b strings.Builder
	for _, c := range all[:10] {
		fmt.Fprintf(&b, "%d %s\n", countSteps(t, env, c.text), c.text)
	}
	if err := os.WriteFile(costlyTexts, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// countSteps returns the steps of checking the types of a text; 0 if it does not parse.
func countSteps(t *testing.T, env *Env, text string) int {
	t.Helper()
	parsed, issues := env.base.Parse(text)
	if issues.Err() != nil {
		return 0
	}
	return env.stepsOf(parsed.NativeRep())
}

// TestCostlyTexts: the steps of the ten texts that cost most are counted, and bounded.
func TestCostlyTexts(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(costlyTexts)
	if err != nil {
		t.Fatal(err)
	}
	env := declared(t)
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	for _, line := range lines {
		count, text, _ := strings.Cut(line, " ")
		want, err := strconv.Atoi(count)
		if got := countSteps(t, env, text); err != nil || got != want || got > MaxSteps {
			t.Errorf("%d steps, want %s: %s", got, count, text)
		}
	}
	if len(lines) != 10 {
		t.Errorf("%d texts", len(lines))
	}
}

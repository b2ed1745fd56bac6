package cel

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
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

// climber finds texts that are costly to compile, by changing a text in small ways.
type climber struct {
	*rand.Rand
	env           *Env
	leaves, forms []string
	// bytes is the length of a text at most.
	bytes int
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
	functions := env.base().Functions()
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
		*at = *c.around(c.forms[c.IntN(len(c.forms))], func() *tree { return c.grow(1) })
		if len(at.parts) > 0 {
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
	// allocated is in bytes: it hardly depends on the load of the machine.
	allocated uint64
	// steps and problems count the steps of checking its types, and the errors.
	steps, problems int
}

// compileCost compiles a text; ok reports whether there are no errors.
func compileCost(env *Env, text string) (out costly, ok bool) {
	var problems document.Problems
	var before, after runtime.MemStats
	budget := NewBudget()
	defer budget.Close()
	counted := env.WithBudget(budget)
	runtime.ReadMemStats(&before)
	p := counted.Compile(Text{Source: text}, &problems)
	runtime.ReadMemStats(&after)
	return costly{text, after.TotalAlloc - before.TotalAlloc, budget.steps, len(problems.List())}, p != nil
}

// climb returns the costliest text of some rounds: the first fifth are random texts, the others
// change the costliest so far.
func (c *climber) climb(rounds int) costly {
	best, top := c.grow(4), costly{}
	for n := range rounds {
		next := c.grow(4)
		if n > rounds/5 {
			next = c.change(best)
		}
		text := next.String()
		if len(text) > c.bytes {
			continue
		}
		if found, ok := compileCost(c.env, text); found.allocated > top.allocated && (ok || !c.accepted) {
			best, top = next, found
		}
	}
	return top
}

// The limits of the cost of compiling a text: the time of any text and the memory of each of its
// bytes, and more for each step and each error.
const (
	timeOfText    = 100 * time.Millisecond
	timeOfStep    = 300 * time.Nanosecond
	timeOfProblem = 2 * time.Millisecond

	bytesOfByte    = 12 << 10
	bytesOfStep    = 100
	bytesOfProblem = 256 << 10
)

// costlyTexts has the ten costliest texts that were found.
const costlyTexts = "testdata/costly.txt"

func readCostlyTexts(t *testing.T) []string {
	t.Helper()
	file, err := os.ReadFile(costlyTexts)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(file)), "\n")
}

// TestCostlyTexts: what compiling the ten costliest texts allocates is within their counted
// steps, and these are bounded.
func TestCostlyTexts(t *testing.T) {
	env := declared(t)
	texts := readCostlyTexts(t)
	for _, text := range texts {
		found, _ := compileCost(env, text)
		allowed := uint64(len(text)*bytesOfByte + found.steps*bytesOfStep + found.problems*bytesOfProblem)
		t.Logf("%d bytes, %d KiB, %d steps, %d errors", len(text), found.allocated>>10, found.steps, found.problems)
		if found.steps == 0 || found.steps > MaxSteps || found.allocated > allowed {
			t.Errorf("%d bytes are allocated, at most %d are allowed for %d steps and %d errors: %s", found.allocated, allowed, found.steps, found.problems, text)
		}
	}
	if len(texts) != 10 {
		t.Errorf("%d texts", len(texts))
	}
}

// TestTimeOfCostlyTexts finds costly texts, and holds the CPU time of compiling these and the ten
// of before to their counted steps. EDICT_TEST_SEED gives others than the usual ones, and
// UPDATE_GOLDEN=1 writes the ten costliest of all.
func TestTimeOfCostlyTexts(t *testing.T) {
	skipUnmeasured(t)
	seed, _ := strconv.ParseUint(os.Getenv("EDICT_TEST_SEED"), 10, 64)
	env := declared(t)
	var all []costly
	for i := range uint64(30) {
		if top := newClimber(env, seed+i).climb(1000); top.steps > 0 {
			all = append(all, top)
			t.Logf("seed %d: %d bytes, %d KiB, %d steps, %d errors: %.150s", seed+i, len(top.text), top.allocated>>10, top.steps, top.problems, top.text)
		}
	}
	if len(all) < 15 {
		t.Errorf("only %d seeds have found a text", len(all))
	}
	for _, text := range readCostlyTexts(t) {
		found, _ := compileCost(env, text)
		all = append(all, found)
	}
	for _, c := range all {
		took := time.Hour
		for range 3 {
			before := processorTime(t)
			compileCost(env, c.text)
			took = min(took, processorTime(t)-before)
		}
		if allowed := timeOfText + time.Duration(c.steps)*timeOfStep + time.Duration(c.problems)*timeOfProblem; took > allowed {
			t.Errorf("%v of CPU time, at most %v are allowed for %d steps and %d errors: %s", took, allowed, c.steps, c.problems, c.text)
		}
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		return
	}
	slices.SortFunc(all, func(a, b costly) int { return cmp.Compare(b.allocated, a.allocated) })
	var b strings.Builder
	for _, c := range slices.CompactFunc(all, func(a, b costly) bool { return a.text == b.text })[:10] {
		fmt.Fprintln(&b, c.text)
	}
	if err := os.WriteFile(costlyTexts, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

package cel

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// countSteps returns the steps of checking the types of a text.
func countSteps(t *testing.T, env *Env, text string) int {
	t.Helper()
	parsed, issues := env.base().Parse(text)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	return env.stepsOf(parsed.NativeRep())
}

// TestSteps: each comparison of types counts, and each type that can be open at that time.
func TestSteps(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for text, want := range map[string]int{
		"1":                             1,
		"object.spec":                   2,
		"!true":                         1 + 2,
		"lists.range(3)":                1 + 1 + 2, // and the name, which is no value here
		"[1, 2]":                        2 + 2,
		"[1, 2] == [3]":                 2 + 2 + 1 + 1 + 3,
		"[]":                            0,
		"[[], []]":                      2 * (1 + 2),
		"{1: 2}":                        2 + 2,
		"nobody.knows(1)":               4,
		"{}.a.b":                        0 + 3 + 3,
		".size([])":                     4 * 2 * 2,
		`google.protobuf.Value{a: [1]}`: 1 + 1 + 1,

		"[1].all(x, x == 1)": 26,
	} {
		if got := countSteps(t, env, text); got != want {
			t.Errorf("%s takes %d steps, want %d", text, got, want)
		}
	}
}

// TestStepsAreBounded: an expression, and the expressions of a policy together, are refused
// before their types are checked if that takes too many steps.
func TestStepsAreBounded(t *testing.T) {
	t.Parallel()
	env := declared(t)
	text := func(n int) string { return "[" + strings.Repeat("[]==[],", n) + "true]" }
	if _, problem := wrong(env, text(400)); !strings.Contains(problem, "steps, at most 500000 are allowed") {
		t.Errorf("one expression: %s", problem)
	}
	budget := NewBudget()
	defer budget.Close()
	refusals, compiled := 0, 0
	for range 20 {
		var problems document.Problems
		if env.WithBudget(budget).Compile(Text{Source: text(250)}, &problems) != nil {
			compiled++
		}
		for _, p := range problems.List() {
			if strings.Contains(p.Message, "more than 2500000 steps") {
				refusals++
			}
		}
	}
	if steps := countSteps(t, env, text(250)); refusals != 1 || compiled != MaxPolicySteps/steps {
		t.Errorf("%d are compiled of %d steps each, %d refusals", compiled, steps, refusals)
	}
}

// TestPartsAreNotCounted: the steps of a part of an expression are counted with the whole.
func TestPartsAreNotCounted(t *testing.T) {
	t.Parallel()
	budget := NewBudget()
	defer budget.Close()
	env := declared(t).WithBudget(budget)
	p := compiled(t, env, "[[], []] == []")
	budget.steps = MaxPolicySteps
	if p.Part(env, p.Tree().Expr(), p.Tree().SourceInfo()) == nil || env.TypeOfText("[[], []] == []") == nil {
		t.Error("a part is refused")
	}
}

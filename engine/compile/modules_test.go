package compile

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/rego"
)

// TestInputOfAQuery: a read of what the input of a query does not have is told, also when it
// has no input at all.
func TestInputOfAQuery(t *testing.T) {
	t.Parallel()
	const policy = "  variables:\n    - name: zone\n      rego:\n        query: data.p.zone\n        module: |\n          package p\n          import rego.v1\n          zone := input.name\n" +
		"        result: {schema: {type: string}}\n%  rules: [{name: r, when: variables.zone == 'a', do: [{labels: {set: {a: b}}}]}]\n"
	for input, want := range map[string]string{
		"":                               `input has no field "name"`,
		"        input: {nam: a}\n":      `input has no field "name" (did you mean "nam"?)`,
		"        input: {name: a}\n":     "",
		"        input: \"${object}\"\n": `input has no field "name"`,
		"        input: \"${object.?metadata}\"\n":       "",
		"        input: \"${object.metadata.labels}\"\n": "",
		"        input: \"${dyn(object)}\"\n":            "",
		"        input: {\"${'a'}\": a}\n":               "",
	} {
		_, problems := compiled(t, header+strings.Replace(policy, "%", input, 1), PolicyOptions{})
		var found []string
		for _, p := range problems {
			if p.Code == document.RegoInput {
				found = append(found, p.Error())
			}
		}
		if got := strings.Join(found, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", input, got, want)
		}
	}
}

// late is an evaluator for which each module takes too long.
type late struct{ asked int }

func (l *late) Do(context.Context, *rego.Request) ([]byte, error) {
	l.asked++
	return nil, expr.Late(rego.MaxTime)
}

// TestModulesAfterOneThatIsEnded: the modules of a policy reach the limit of the
// time once, not once each.
func TestModulesAfterOneThatIsEnded(t *testing.T) {
	t.Parallel()
	text := header + "  variables:\n"
	for i := range 5 {
		text += fmt.Sprintf("    - {name: v%d, rego: {query: data.p.x, module: \"package p\\nx := %d\"}}\n", i, i)
	}
	evaluator := &late{}
	_, problems := compiled(t, text+"  rules: [{name: r, do: [{labels: {set: {a: b}}}]}]\n", PolicyOptions{Rego: evaluator})
	if evaluator.asked != 1 || !strings.Contains(fmt.Sprint(problems), "it took longer than 5s") {
		t.Errorf("asked %d times: %v", evaluator.asked, problems)
	}
}

// TestEnumOfAResult: an enum that is no list of texts is refused where it is written.
func TestEnumOfAResult(t *testing.T) {
	t.Parallel()
	for _, enum := range []string{"a", "[]", "[1]", "{a: b}"} {
		text := "  variables: [{name: v, rego: {query: data.p.x, module: \"package p\\nx := 1\", result: {enum: " + enum + "}}}]\n  rules: [{name: r, when: variables.v == 'a', do: [{labels: {set: {a: b}}}]}]\n"
		_, problems := compiled(t, header+text, PolicyOptions{})
		if got := fmt.Sprint(document.Join(problems)); got != "f.yaml:6:93: enum must be a list of texts (result: {enum: [load, none]})" {
			t.Errorf("%s: %s", enum, got)
		}
	}
}

// TestResultName: the types of two results have one name only if their schemas are the same.
func TestResultName(t *testing.T) {
	t.Parallel()
	name := func(schema string) string {
		var problems document.Problems
		return resultName("p", document.Parse("f.yaml", []byte(schema), &problems)[0])
	}
	a, b := name("{type: object, properties: {a: {type: string}}}"), name("{type: object, properties: {b: {type: string}}}")
	if a == b || a != name("properties: {a: {type: string}}\ntype: object\n") {
		t.Errorf("the names are %s and %s", a, b)
	}
	if got := cel.TypeName(types.NewObjectType(a)); got != "p.result" {
		t.Errorf("messages name the type %s", got)
	}
}

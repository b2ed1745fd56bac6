package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// TestInputOfAQuery: a read of what the input of a query does not have is told, also when it
// has no input at all.
func TestInputOfAQuery(t *testing.T) {
	t.Parallel()
	const policy = "  variables:\n    - name: zone\n      rego:\n        query: data.p.zone\n        module: |\n          package p\n          import rego.v1\n          zone := input.name\n" +
		"        result: {schema: {type: string}}\n%  rules: [{name: r, when: variables.zone == 'a', do: [{labels: {set: {a: b}}}]}]\n"
	for input, want := range map[string]string{
		"":                                 `input has no field "name"`,
		"        input: {nam: a}\n":        `input has no field "name" (did you mean "nam"?)`,
		"        input: {name: a}\n":       "",
		"        input: \"${object}\"\n":   "",
		"        input: {\"${'a'}\": a}\n": "",
	} {
		_, problems := compiled(t, header+strings.Replace(policy, "%", input, 1), Options{})
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

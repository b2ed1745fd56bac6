package compile

import (
	"strings"
	"sync"
	"testing"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

// negative has a param and a variable that are no longer than nothing.
const negative = "  params: {none: {type: duration, default: 0s}}\n  variables: [{name: before, expression: 'duration(\"-1m\")'}]\n"

// TestRate: a rate is complete, counts for a primary object, and does not ask about an item.
func TestRate(t *testing.T) {
	t.Parallel()
	const rule = "  rules:\n    - {name: r, forEach: '[1, 2]', rate: {max: 5, per: 1m}, do: [{labels: {set: {a: b}}}]}\n"
	testRules(t, map[string]ruleCase{
		"whole":             {rule, ""},
		"expressions":       {strings.Replace(rule, "max: 5, per: 1m", "max: 2 + 3, per: 'duration(\"1m\")'", 1), ""},
		"no period":         {strings.Replace(rule, ", per: 1m", "", 1), "needs max and per"},
		"no max":            {strings.Replace(rule, "max: 5, ", "", 1), "needs max and per"},
		"none":              {strings.Replace(rule, "max: 5", "max: 0", 1), "from 1 to 500"},
		"too many":          {strings.Replace(rule, "max: 5", "max: 501", 1), "from 1 to 500"},
		"no duration":       {strings.Replace(rule, "1m", "soon", 1), "undefined name"},
		"no time":           {strings.Replace(rule, "1m", "0s", 1), "not longer than nothing"},
		"a negative time":   {strings.Replace(rule, "1m", "-1m", 1), "not longer than nothing"},
		"a param":           {negative + strings.Replace(rule, "1m", "params.none", 1), "the duration params.none is 0s, not longer than nothing"},
		"a variable":        {negative + strings.Replace(rule, "1m", "variables.before", 1), "is -1m0s, not longer than nothing"},
		"a param to be set": {strings.Replace(negative, "default: 0s", "default: 0s, required: true", 1) + strings.Replace(rule, "1m", "params.none", 1), ""},
		"a sum of params":   {negative + strings.Replace(rule, "1m", "'params.none + duration(\"1m\")'", 1), ""},
		"an item":           {strings.Replace(rule, "rate:", "when: item == 1, rate:", 1), "when cannot name one"},
		"a debounce":        {strings.Replace(rule, "rate:", "debounce: {key: a, window: 1m}, rate:", 1), "has debounce and rate"},
		"two of one name":   {rule + strings.Replace(strings.TrimPrefix(rule, "  rules:\n"), "name: r", "name: R.", 1), "another rule has the same"},
	})
}

// TestHeld: a condition that must hold for some time is complete, over the primary object,
// and has an annotation of its own.
func TestHeld(t *testing.T) {
	t.Parallel()
	const rule = "  rules:\n    - {name: r, when: {held: 'object.metadata.name == \"a\"', for: 5m}, do: [{labels: {set: {a: b}}}]}\n"
	testRules(t, map[string]ruleCase{
		"whole":               {rule, ""},
		"no time":             {strings.Replace(rule, ", for: 5m", "", 1), "has held and for"},
		"no condition":        {strings.Replace(rule, "held: 'object.metadata.name == \"a\"', ", "", 1), "has held and for"},
		"nothing":             {strings.Replace(rule, "held: 'object.metadata.name == \"a\"', for: 5m", "", 1), "has held and for"},
		"no duration":         {strings.Replace(rule, "5m", "soon", 1), "undefined name"},
		"a time of nothing":   {strings.Replace(rule, "5m", "0s", 1), "not longer than nothing"},
		"a negative time":     {strings.Replace(rule, "5m", "-5m", 1), "not longer than nothing"},
		"a param of nothing":  {negative + strings.Replace(rule, "5m", "params.none", 1), "not longer than nothing"},
		"a negative variable": {negative + strings.Replace(rule, "5m", "variables.before", 1), "not longer than nothing"},
		"too long a time":     {strings.Replace(rule, "5m", "9999999h", 1), "9999999h is too long"},
		"an item":             {strings.Replace(strings.Replace(rule, "object.metadata", "item.metadata", 1), "name: r", "name: r, forEach: '[object]'", 1), "undefined name"},
		"two of one name":     {rule + strings.Replace(strings.TrimPrefix(rule, "  rules:\n"), "name: r", "name: R.", 1), "another rule has the same"},
		"a name without text": {strings.Replace(rule, "name: r", "name: '!'", 1), `or "!" has none`},
		"a long name":         {strings.Replace(rule, "name: r", "name: "+strings.Repeat("long ", 20), 1), "longer than 63 bytes"},
	})
}

// ruleCase is the spec of a policy, and a part of its error, if it has one.
type ruleCase struct{ spec, want string }

// testRules compiles policies and compares what is wrong with them.
func testRules(t *testing.T, cases map[string]ruleCase) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, header+tc.spec, PolicyOptions{})
			var got string
			if err := document.Join(problems); err != nil {
				got = err.Error()
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestHeldAgain: a document may be compiled several times at once; each adds its own
// variables.
func TestHeldAgain(t *testing.T) {
	t.Parallel()
	const text = header + "  variables: [{name: a, expression: 'true'}, {name: b, expression: 'true'}, {name: c, expression: 'true'}]\n" +
		"  rules: [{name: r, when: {held: 'variables.a && variables.b && variables.c', for: 5m}, do: [{labels: {set: {a: b}}}]}]\n"
	found, problems := load.Documents("f.yaml", []byte(text))
	if err := document.Join(problems); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			doc := withHeld(found.Policies[0], &findings{})
			if got := len(doc.Spec.Variables); got != 4 {
				t.Errorf("%d variables, want 4", got)
			}
		})
	}
	group.Wait()
}

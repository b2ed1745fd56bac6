package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/plan"
)

// parted is a policy whose rules depend on different parts.
const parted = header + `  params: {zone: a, bonus: 1, unused: 1}
  inputs:
    - {name: pods, apiVersion: v1, kind: Pod, where: item.spec.nodeName == key.name}
  variables:
    - {name: base, expression: params.bonus}
    - {name: sum, expression: variables.base + size(inputs.pods)}
    - {name: asked, rego: {query: data.p.x, input: {a: b}, result: {enum: [c]}}}
  rules:
    - name: first
      when: params.zone == "a"
      do: [{labels: {set: {sum: "${string(variables.sum)}"}}}]
    - name: second
      when: key.name != "x"
      do: [{labels: {set: {asked: "${variables.asked}"}}}]
`

// TestFingerprints: an edit shows in the rules that it concerns, and there in
// what decides whether they are looked at, or only in what they do.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	module := "package p\nimport rego.v1\ndefault x := \"c\"\n"
	made := func(text, module string) *plan.Policy {
		t.Helper()
		p, problems := compiled(t, text, PolicyOptions{Modules: []rego.Module{{Name: "p.rego", Text: module}}})
		if p == nil {
			t.Fatal(document.Join(problems))
		}
		return p
	}
	before := made(parted, module)
	for name, tc := range map[string]struct {
		old, now, module string
		want             string // G and B for each rule, F for the frame
	}{
		"nothing":                           {"", "", module, ""},
		"a comment":                         {"  rules:", "  # why\n  rules:", module, ""},
		"a param that nobody reads":         {"unused: 1", "unused: 2", module, ""},
		"a param of a condition":            {"zone: a", "zone: b", module, "G1 B1"},
		"a param behind two variables":      {"bonus: 1", "bonus: 2", module, "B1"},
		"a variable behind a variable":      {"expression: params.bonus", "expression: params.bonus + 1", module, "B1"},
		"an input":                          {"nodeName == key.name", "nodeName == key.name + ''", module, "B1"},
		"what an action says":               {"asked: \"${", "told: \"${", module, "B2"},
		"a condition":                       {`key.name != "x"`, `key.name != "y"`, module, "G2 B2"},
		"the Rego":                          {"", "", module + "# x\n", "B2"},
		"which objects":                     {"for: {apiVersion: v1, kind: Node}", "for: {apiVersion: v1, kind: Node, selector: a=b}", module, "F"},
		"a stop after it":                   {"    - name: second\n", "    - name: second\n      stop: true\n", module, "G2 B2"},
		"a metric":                          {"  rules:", "  metrics: [{name: m_total, of: effect.written}]\n  rules:", module, ""},
		"a variable that nobody reads more": {"  rules:", "    - {name: more, expression: '1'}\n  rules:", module, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.old != "" && !strings.Contains(parted, tc.old) {
				t.Fatalf("the policy does not hold %q", tc.old)
			}
			text := parted
			if tc.old != "" {
				text = strings.Replace(parted, tc.old, tc.now, 1)
			}
			if got := different(before, made(text, tc.module)); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestSpellings: a part counts however an expression spells its name, and a
// rule's variables count in its condition whether or not it has a forEach.
func TestSpellings(t *testing.T) {
	t.Parallel()
	const base = header + `  params: {bonus: 1}
  variables:
    - {name: want, expression: params.bonus > 1}
  rules:
    - name: first
%s
      do: [{labels: {set: {a: b}}}]
    - name: second
      when: key.name != "x"
      do: [{labels: {set: {a: b}}}]
`
	for name, rule := range map[string]string{
		"plain":                 "      when: variables.want",
		"escaped":               "      when: variables.`want`",
		"a comment in it":       "      when: \"variables // which one\\n .want\"",
		"white space in it":     "      when: variables . want",
		"a variable":            "      variables: [{name: hit, expression: variables.want}]\n      when: hit",
		"a variable, escaped":   "      variables: [{name: hit, expression: variables.`want`}]\n      when: hit",
		"a variable's template": "      variables: [{name: hit, value: \"${variables.want}\"}]\n      when: hit == true",
		"a list":                "      forEach: \"variables.want ? [1] : []\"",
		"a variable of an item": "      forEach: \"[1]\"\n      variables: [{name: hit, expression: item == 1 && variables.want}]\n      when: hit",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(base, "%s", rule, 1)
			made := func(text string) *plan.Policy {
				p, problems := compiled(t, text, PolicyOptions{})
				if p == nil {
					t.Fatal(document.Join(problems))
				}
				return p
			}
			if got := different(made(text), made(strings.Replace(text, "bonus: 1", "bonus: 2", 1))); got != "G1 B1" {
				t.Errorf("another value of the param concerns %q, want G1 B1", got)
			}
		})
	}
}

// TestNarrowing: what the params make of an input's selector, namespace and
// condition counts for the rules that use it.
func TestNarrowing(t *testing.T) {
	t.Parallel()
	const text = `  params: {selector: {type: selector, default: a=b}, namespace: x, on: true}
  inputs:
    - {name: pods, apiVersion: v1, kind: Pod, selector: "${params.selector}", namespace: params.namespace, when: params.on}
  rules:
    - name: first
      do: [{labels: {set: {sum: "${string(size(inputs.pods))}"}}}]
`
	before := spec(t, text).Rules[0].Node.Hash()
	for old, now := range map[string]string{"a=b": "a=c", "namespace: x": "namespace: y", "on: true": "on: false"} {
		if spec(t, strings.Replace(text, old, now, 1)).Rules[0].Node.Hash() == before {
			t.Errorf("%s: the rule is the same", now)
		}
	}
}

// TestOwnVariables: an edit of a rule's own variable shows in its condition.
func TestOwnVariables(t *testing.T) {
	t.Parallel()
	text := header + `  rules:
    - name: mark
      variables: [{name: hit, expression: 'key.name == "a"'}]
      when: hit
      do: [{labels: {set: {a: b}}}]
`
	a, b := spec(t, strings.TrimPrefix(text, header)), spec(t, strings.TrimPrefix(strings.Replace(text, `"a"`, `"b"`, 1), header))
	if a.Rules[0].Gate.Hash() == b.Rules[0].Gate.Hash() {
		t.Error("the condition is the same, although its variable is not")
	}
}

func different(a, b *plan.Policy) string {
	var out []string
	if a.Primary.Node.Hash() != b.Primary.Node.Hash() {
		out = append(out, "F")
	}
	for i, name := range []string{"1", "2"} {
		if a.Rules[i].Gate.Hash() != b.Rules[i].Gate.Hash() {
			out = append(out, "G"+name)
		}
		if a.Rules[i].Node.Hash() != b.Rules[i].Node.Hash() {
			out = append(out, "B"+name)
		}
	}
	return strings.Join(out, " ")
}

// TestWhatADecisionDependsOn: nodes say whether they call builtins that depend on
// the time or on what was remembered, and the plan whether decisions depend on
// more than objects and the time.
func TestWhatADecisionDependsOn(t *testing.T) {
	t.Parallel()
	const log = "      do: [{log: {message: m}}]\n"
	for name, tc := range map[string]struct {
		rule                      string
		timed, recalls, remembers bool
	}{
		"nothing":  {"  rules:\n    - name: r\n" + log, false, false, false},
		"time":     {"  rules:\n    - name: r\n      when: elapsed(object.metadata.creationTimestamp, duration('1h'))\n" + log, true, false, false},
		"memory":   {"  rules:\n    - name: r\n      when: memory.get('x').hasValue()\n" + log, false, true, true},
		"remember": {"  rules:\n    - name: r\n      do: [{remember: {name: x, value: y}}]\n", false, false, true},
		"debounce": {"  rules:\n    - name: r\n      debounce: {key: k, window: 1s}\n" + log, false, false, true},
	} {
		p := spec(t, tc.rule)
		gate := p.Rules[0].Gate
		if gate.Timed != tc.timed || gate.Recalls != tc.recalls || p.Stateful != tc.remembers || p.HasSelections {
			t.Errorf("%s: timed %v, recalls %v, stateful %v", name, gate.Timed, gate.Recalls, p.Stateful)
		}
	}
}

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
		p, problems := compiled(t, text, Options{Modules: map[string][]rego.Module{"f.yaml": {{Name: "p.rego", Text: module}}}})
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

func different(a, b *plan.Policy) string {
	var out []string
	if a.Frame != b.Frame {
		out = append(out, "F")
	}
	for i, name := range []string{"1", "2"} {
		if a.Rules[i].Gate != b.Rules[i].Gate {
			out = append(out, "G"+name)
		}
		if a.Rules[i].Body != b.Rules[i].Body {
			out = append(out, "B"+name)
		}
	}
	return strings.Join(out, " ")
}

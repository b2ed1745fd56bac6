package compile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/rego"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// compiled compiles the one policy of a text.
func compiled(t *testing.T, text string, o PolicyOptions, schemas ...*schema.Set) (*plan.Policy, []document.Problem) {
	t.Helper()
	file, wrong := load.Documents("f.yaml", []byte(text))
	if len(wrong) > 0 {
		t.Fatal(document.Join(wrong))
	}
	compiler, err := New(Options{Schemas: append(schemas, schema.Builtin())[0], Functions: builtins.Functions(), Queries: builtins.Queries()})
	if err != nil {
		t.Fatal(err)
	}
	return compiler.Policy(file.Policies[0], o)
}

// spec compiles a policy about Nodes that is expected to be right.
func spec(t *testing.T, text string) *plan.Policy {
	t.Helper()
	p, problems := compiled(t, header+text, PolicyOptions{})
	if p == nil {
		t.Fatal(document.Join(problems))
	}
	return p
}

const header = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n"

// masked writes a mask: * is everything, a name alone a scalar or the presence
// of more, [] what is read of every item or value.
func masked(m *value.Mask) string {
	switch {
	case m == nil:
		return "nothing"
	case m.All:
		return "*"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		parts = append(parts, strings.TrimSpace(name+" "+masked(m.Fields[name])))
	}
	if m.Each != nil {
		parts = append(parts, strings.TrimSpace("[] "+masked(m.Each)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// placed writes where objects are, as far as it is known.
func placed(at analyze.Scope) (out string) {
	if at.Namespace.Value != "" {
		out += fmt.Sprintf(" in %+v", at.Namespace)
	}
	if at.Name.Value != "" {
		out += fmt.Sprintf(" named %+v", at.Name)
	}
	if at.Input != "" {
		out += " of the input " + at.Input
	}
	return out
}

// summary writes what follows from a policy: what is watched, what of it is
// read and kept, how joins are answered, and what is written.
func summary(p *plan.Policy) string {
	var out strings.Builder
	fmt.Fprintf(&out, "policy %s\n  for %s, of which it reads %s\n", p.Name, p.Primary.GVK, masked(p.ObjectReads))
	for _, in := range p.Inputs {
		fmt.Fprintf(&out, "  input %s: %s namespace %q selector %q\n    reads %s\n", in.Name, in.Source.GVK, in.Source.Namespace, in.Source.Selector, masked(in.Reads))
		if in.Where != nil {
			fmt.Fprintf(&out, "    index %q, exact %v; besides the join it reads %s\n", in.Index, in.Join.Exact, masked(in.Content))
		}
	}
	for _, v := range p.Variables {
		fmt.Fprintf(&out, "  variable %s uses %s\n", v.Name, strings.Join(usedBy(v.Node), ", "))
	}
	for _, t := range p.Targets {
		fmt.Fprintf(&out, "  target %s, of which it reads %s\n", t.Source.GVK, masked(t.Reads))
	}
	for _, w := range p.Writes {
		fmt.Fprintf(&out, "  writes %s %s %s\n", w.Verb, w.GVK, strings.TrimSpace(w.Subresource+placed(w.Scope)))
	}
	for _, h := range p.FinalizerUses {
		fmt.Fprintf(&out, "  holds %s by the finalizer %+v\n", h.GVK, h.Finalizer)
	}
	return out.String()
}

// usedBy returns what a node and its parts use, without what they consist of.
func usedBy(n *analyze.Node) []string {
	out, own := map[string]bool{}, map[*analyze.Node]bool{}
	n.EachPart(func(part *analyze.Node) { own[part] = true })
	for part := range own {
		for _, other := range part.Uses {
			if !own[other] {
				out[other.Kind.String()+" "+other.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// TestPlansGolden shows what the shipped policies watch, keep, index and
// write. A field that appears here without need wakes keys without need.
func TestPlansGolden(t *testing.T) {
	t.Parallel()
	schemas := schema.NewSet(schema.Builtin())
	if err := schemas.AddFolder("../../policies/schemas"); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../../policies/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	compiler, err := New(Options{Schemas: schemas, Functions: builtins.Functions(), Queries: builtins.Queries()})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, wrong := load.Documents(path, text)
		if len(wrong) > 0 {
			t.Fatal(document.Join(wrong))
		}
		var o PolicyOptions
		if module, err := os.ReadFile(strings.TrimSuffix(path, ".yaml") + ".rego"); err == nil {
			o.Modules = []rego.Module{{Name: "m.rego", Text: string(module)}}
		}
		for _, doc := range file.Policies {
			p, problems := compiler.Policy(doc, o)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got += summary(p) + "\n"
		}
	}
	golden(t, "testdata/plans.golden", got)
}

// golden compares a text with a file; UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestVariablesInAnyOrder: each is compiled after those that it uses.
func TestVariablesInAnyOrder(t *testing.T) {
	t.Parallel()
	p := spec(t, `
  variables:
    - {name: c, expression: variables.b + 1}
    - {name: a, expression: "1"}
    - name: d
      forEach: variables.list
      variables: [{name: x, expression: item + variables.c}]
      value: "${x}"
    - {name: b, expression: variables.a + 1}
    - {name: list, expression: "[variables.a]"}
`)
	var got []string
	for i, v := range p.Variables {
		got = append(got, v.Name)
		if slot, _ := p.Slots.Of("variables." + v.Name); slot.Index != i {
			t.Errorf("%s is in another slot", v.Name)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "list", "d"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSources: params narrow what is watched.
func TestSources(t *testing.T) {
	t.Parallel()
	text := strings.Replace(header, "kind: Node}", "kind: Node, selector: {matchLabels: {role: \"${params.role}\"}}}", 1) + `
  params: {role: storage, ns: agents, on: false, pods: {type: selector, default: app=a}}
  inputs:
    - {name: agents, apiVersion: v1, kind: Pod, namespace: params.ns, selector: "${params.pods}"}
    - {name: off, apiVersion: v1, kind: Pod, when: params.on}
    - {name: one, apiVersion: v1, kind: ConfigMap, get: '{"namespace": params.ns, "name": key.name}'}
`
	p, problems := compiled(t, text, PolicyOptions{})
	if p == nil {
		t.Fatal(document.Join(problems))
	}
	if p.Primary.Source.Selector != "role=storage" {
		t.Errorf("the primary's selector is %q", p.Primary.Source.Selector)
	}
	agents := p.Inputs[0].Source
	if agents.Namespace != "agents" || agents.Selector != "app=a" || p.Inputs[0].Off || !p.Inputs[1].Off || p.Inputs[2].Shape != plan.One {
		t.Errorf("the inputs are %+v, %+v, %+v", p.Inputs[0], p.Inputs[1], p.Inputs[2])
	}
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{`[a]`: {"a"}, `[a, b]`: {"a", "b"}, `"${params.list}"`: {"x", "y"}} {
		p, problems := compiled(t, strings.Replace(header, "kind: Node}", "kind: Pod, namespaces: "+text+"}", 1)+"  params: {list: [x, y]}\n", PolicyOptions{})
		if p == nil {
			t.Fatal(document.Join(problems))
		}
		source := ""
		if len(want) == 1 {
			source = want[0]
		}
		if !slices.Equal(p.Primary.Namespaces, want) || p.Primary.Source.Namespace != source {
			t.Errorf("%s: %v, watched in %q", text, p.Primary.Namespaces, p.Primary.Source.Namespace)
		}
	}
}

// TestParams: what a param may be, and how it is overridden.
func TestParams(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		param, override string
		want            any
		err             string
	}{
		"a text":                   {"a", "b", "b", ""},
		"a text like a number":     {"a", "3", "3", ""},
		"an empty text":            {"a", "", "", ""},
		"a number":                 {"3", "4", int64(4), ""},
		"a number, not one":        {"3", "four", nil, `the value "four" given for the param p.x: not of type int: four`},
		"a float from a whole one": {"{type: double, default: 1}", "2", 2.0, ""},
		"a boolean":                {"true", "false", false, ""},
		"a duration":               {"{type: duration, default: 10m}", "90s", "1m30s", ""},
		"no duration":              {"{type: duration, default: 10m}", "90", nil, `not a duration such as 10m: "90"`},
		"days":                     {"{type: duration, default: 10m}", "14d", nil, `not a duration such as 10m: "14d"; there are no days: 336h`},
		"labels as a selector":     {"{type: selector, default: a=b}", "{app: web}", nil, `unknown field "app": labels are written as "app=web", or {matchLabels: {app: web}}`},
		"a list":                   {"[a]", "[b, c]", []any{"b", "c"}, ""},
		"a list in JSON":           {"[a]", `["b"]`, []any{"b"}, ""},
		"no list":                  {"[a]", "b", nil, "not of type list: b"},
		"a map":                    {"{type: map, default: {a: 1}}", "{b: 2}", map[string]any{"b": int64(2)}, ""},
		"a selector":               {"{type: selector, default: a=b}", "c in (d)", "c in (d)", ""},
		"a selector as an object":  {"{type: selector, default: a=b}", "{matchLabels: {c: d}}", map[string]any{"matchLabels": map[string]any{"c": "d"}}, ""},
		"no selector":              {"{type: selector, default: a=b}", "c in", nil, "found '' expected: '('"},
		"below the minimum":        {"{default: 5, minimum: 3}", "2", nil, "the minimum is 3"},
		"the minimum":              {"{default: 5, minimum: 3}", "3", int64(3), ""},
		"above the maximum":        {"{type: duration, default: 5m, maximum: 10m}", "11m", nil, "the maximum is 10m"},
		"too short":                {"{default: a, minLength: 1}", "", nil, "it must have a length of at least 1"},
		"a list too short":         {"{default: [a], minLength: 1}", "[]", nil, "it must have a length of at least 1"},
		"one of the values":        {"{default: a, enum: [a, b]}", "b", "b", ""},
		"none of the values":       {"{default: a, enum: [a, b]}", "c", nil, "c is not one of a, b"},
		"a duration, in any form":  {"{type: duration, default: 1h, enum: [60m, 30m]}", "1800s", "30m0s", ""},
		"none of the durations":    {"{type: duration, default: 1h, enum: [1h, 30m]}", "2h", nil, "is not one of 1h, 30m"},
		"items of the values":      {"{default: [a], items: {enum: [a, b]}}", "[a, c]", nil, "c is not one of a, b"},
		"broken YAML":              {"[a]", "[", nil, "not valid YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, problems := compiled(t, header+"  params: {x: "+tc.param+"}\n", PolicyOptions{Params: map[string]Override{"x": {Text: tc.override}}})
			err := document.Join(problems)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || p != nil {
					t.Errorf("got %v, want %s", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, value.Plain(p.Params["x"])); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAWrongParamIsToldOnce: where it is used nothing is wrong besides.
func TestAWrongParamIsToldOnce(t *testing.T) {
	t.Parallel()
	for param, override := range map[string]string{
		"{type: int, default: 1, minimum: 1}": "0", "{type: int, default: 0, minimum: 1}": "1", "{type: int, default: a}": "1", "{type: duration, default: 10}": "1s",
	} {
		text := header + "  params: {x: " + param + "}\n  rules: [{name: r, do: [{labels: {set: {a: \"${string(params.x)}\"}}}]}]\n"
		p, problems := compiled(t, text, PolicyOptions{Params: map[string]Override{"x": {Text: override}}})
		if p != nil || len(problems) != 1 {
			t.Errorf("%s: %v", param, document.Join(problems))
		}
	}
}

// TestRevision changes with the text and the params in force, and with nothing
// else.
func TestRevision(t *testing.T) {
	t.Parallel()
	revision := func(text string, params map[string]string) string {
		p, problems := compiled(t, text, PolicyOptions{Params: TypedOverrides(map[string]map[string]string{"p": params}, "")["p"]})
		if p == nil {
			t.Fatal(document.Join(problems))
		}
		return p.Revision
	}
	text := header + "  params: {x: a}\n  rules:\n    - name: r\n      do: [{labels: {set: {a: b}}}]\n"
	first := revision(text, nil)
	for name, same := range map[string]string{
		"again": revision(text, nil), "another layout": revision(strings.ReplaceAll(text, "{x: a}", "\n    x: a # why"), nil), "in the shadow": revision(strings.Replace(text, "  rules:", "  mode: Shadow\n  rules:", 1), nil),
	} {
		if same != first {
			t.Errorf("%s: %s, was %s", name, same, first)
		}
	}
	for name, other := range map[string]string{
		"another label": revision(strings.Replace(text, "{a: b}", "{a: c}", 1), nil), "another param": revision(text, map[string]string{"x": "b"}),
		"another rule name": revision(strings.Replace(text, "name: r", "name: s", 1), nil), "a condition": revision(strings.Replace(text, "name: r", "name: r\n      when: \"true\"", 1), nil),
		"a minimum": revision(strings.Replace(text, "{x: a}", "{x: {default: a, minLength: 1}}", 1), nil), "a description": revision(strings.Replace(text, "{x: a}", "{x: {default: a, description: '1'}}", 1), nil),
		"a stop": revision(strings.Replace(text, "name: r", "name: r\n      stop: true", 1), nil),
	} {
		if other == first {
			t.Errorf("%s makes no other revision", name)
		}
	}
}

// TestWhenOfALoop is judged once, unless it names the item or a variable of
// the rule.
func TestWhenOfALoop(t *testing.T) {
	t.Parallel()
	for when, perItem := range map[string]bool{
		`object.spec.unschedulable`: false, `item.key == "a"`: true, `x == "a"`: true, `[1].exists(item, item == 1)`: false, `size(object.spec.taints) > 0`: false,
	} {
		p := spec(t, "  rules:\n    - name: r\n      forEach: object.spec.taints\n      variables: [{name: x, expression: item.key}]\n      when: '"+when+"'\n      do: [{labels: {set: {a: b}}}]\n")
		if p.Rules[0].WhenPerItem != perItem {
			t.Errorf("%s: judged per item is %v", when, !perItem)
		}
	}
}

// TestWrites are known from the text.
func TestWrites(t *testing.T) {
	t.Parallel()
	p := spec(t, `
  inputs:
    - {name: pod, apiVersion: v1, kind: Pod, get: '{"namespace": "a", "name": key.name}'}
  rules:
    - name: r
      do:
        - labels: {set: {a: b}}
        - annotations: {of: inputs.pod, set: {a: b}}
        - condition: {type: A, status: "True"}
        - patch: {of: {apiVersion: apps/v1, kind: Deployment, namespace: a, name: b}, value: {spec: {replicas: 1}}}
        - event: {reason: A, message: b}
      onError:
        - patch: {of: inputs.pod, subresource: status, value: {status: {message: a}}}
`)
	var got []string
	for _, w := range p.Writes {
		got = append(got, strings.TrimSpace(string(w.Verb)+" "+w.GVK.String()+" "+w.Subresource))
	}
	want := []string{"patch v1/Node", "patch v1/Pod", "patch v1/Node status", "patch apps/v1/Deployment", "event v1/Event", "patch v1/Pod status"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(p.Targets) != 1 || p.Targets[0].Source.Kind != "Deployment" || masked(p.Targets[0].Reads) != "{metadata {deletionTimestamp}, spec {replicas *}}" {
		t.Errorf("the targets are %+v", p.Targets)
	}
}

// TestNoPlanWithAnError: all of a policy or nothing of it.
func TestNoPlanWithAnError(t *testing.T) {
	t.Parallel()
	p, problems := compiled(t, header+"  variables: [{name: a, expression: nothing}]\n", PolicyOptions{})
	if p != nil || !document.HasErrors(problems) {
		t.Errorf("got %v, %v", p, problems)
	}
}

func TestDisabled(t *testing.T) {
	t.Parallel()
	if spec(t, "  mode: Disabled\n").Mode != plan.Disabled || spec(t, "  mode: Enforce\n").Mode != plan.Enforce || spec(t, "").Mode != plan.Enforce {
		t.Error("the mode is not kept")
	}
}

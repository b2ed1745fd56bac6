package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

// setOf is a set that runs the ConfigMap m.
func setOf(name string, spec edictv1.PolicySetSpec) *Set {
	spec.Source.ConfigMap.Name = "m"
	return &Set{Namespace: "ns", Name: name, Spec: spec}
}

// params are values as a set has them, in JSON.
func params(of map[string]map[string]string) map[string]edictv1.Values {
	out := map[string]edictv1.Values{}
	for policy, values := range of {
		out[policy] = edictv1.Values{}
		for name, text := range values {
			out[policy][name] = apiextensionsv1.JSON{Raw: []byte(text)}
		}
	}
	return out
}

// TestModes: of the modes of the text, of the set and of the policy in the set the narrowest holds. A
// set without a mode is in Shadow.
func TestModes(t *testing.T) {
	t.Parallel()
	all := []edictv1.Mode{"", edictv1.ModeDisabled, edictv1.ModeShadow, edictv1.ModeEnforce}
	rank := map[edictv1.Mode]int{edictv1.ModeDisabled: 0, edictv1.ModeShadow: 1, edictv1.ModeEnforce: 2}
	for _, text := range all {
		for _, set := range all {
			for _, own := range all {
				spec, rest := edictv1.PolicySetSpec{Mode: set, Modes: map[string]edictv1.Mode{"other": edictv1.ModeDisabled}}, ""
				if own != "" {
					spec.Modes["a"] = own
				}
				if text != "" {
					rest = "  mode: " + string(text) + "\n"
				}
				want := edictv1.ModeEnforce
				effective := set
				if set == "" {
					effective = edictv1.ModeShadow
				}
				for _, m := range []edictv1.Mode{text, effective, own} {
					if m != "" && rank[m] < rank[want] {
						want = m
					}
				}
				u := Read(setOf("s", spec), at("m", map[string]string{"a.yaml": policy("a", rest), "other.yaml": policy("other", "")})).Units[0]
				p, problems, err := NewCompiler(nil, nil).Compile(t.Context(), u, known(nil))
				if p == nil || p.Mode != plan.Mode(want) || u.Disabled() != (want == edictv1.ModeDisabled) {
					t.Errorf("text %q, set %q, policy %q: %+v, want %s (%v, %v)", text, set, own, p, want, problems, err)
				}
			}
		}
	}
}

// TestPoliciesOfASet: they have the set, its account and what they are compared with.
func TestPoliciesOfASet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec            edictv1.PolicySetSpec
		shadowOf, owner string
		account         string
	}{
		"a set":      {edictv1.PolicySetSpec{Mode: edictv1.ModeEnforce, ServiceAccountName: "mine"}, "", "s/a", "mine"},
		"a shadow":   {edictv1.PolicySetSpec{ShadowOf: &edictv1.LocalReference{Name: "t"}}, "t", "t/a", ""},
		"no account": {edictv1.PolicySetSpec{}, "", "s/a", ""},
	} {
		c := Read(setOf("s", tc.spec), at("m", map[string]string{"a.yaml": policy("a", "")}))
		p, problems, err := NewCompiler(nil, nil).Compile(t.Context(), c.Units[0], known(nil))
		if p == nil {
			t.Fatal(problems, err)
		}
		if diff := cmp.Diff([]string{"s/a", "s", tc.shadowOf, tc.owner, tc.account}, []string{p.ID(), p.Set, p.ShadowOf, p.Owner(), p.Account}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		if diff := cmp.Diff(plan.MarkKeys(tc.owner, []string{"mark"}), p.MarkKeys); diff != "" {
			t.Errorf("%s: marks (-want +got):\n%s", name, diff)
		}
		u := c.Units[0].InNoSet()
		if u.ID() != "a" || u.Mode != "" || u.Document.Set != "" || c.Units[0].ID() != "s/a" {
			t.Errorf("%s: in no set it is %s", name, u.ID())
		}
	}
}

// TestParamsOfASet: spec.params wins over params.yaml. What is wrong with them stops all policies of the
// set, and stands at the field.
func TestParamsOfASet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text   string
		spec   map[string]map[string]string
		values map[string]string // of the policies
		want   []string
	}{
		"the defaults": {"", nil, map[string]string{"a": "a", "b": "a"}, []string{}},
		"of the text":  {"a: {value: t}", nil, map[string]string{"a": "t", "b": "a"}, []string{}},
		"of the set":   {"", map[string]map[string]string{"b": {"value": `"s"`}}, map[string]string{"a": "a", "b": "s"}, []string{}},
		"of both":      {"a: {value: t}\nb: {value: t}", map[string]map[string]string{"a": {"value": `"s"`}}, map[string]string{"a": "s", "b": "t"}, []string{}},
		"for nobody":   {"", map[string]map[string]string{"stranger": {"value": `"s"`}}, map[string]string{"a": "a", "b": "a"}, []string{`warning ns/s (spec.params.stranger): there is no policy "stranger" in the ConfigMap m`}},
		"no value":     {"", map[string]map[string]string{"a": {"value": `null`}}, nil, []string{`error ns/s (spec.params.a.value): the param "value" has no value (remove it to have the default)`}},
		"several": {"", map[string]map[string]string{"b": {"y": `null`, "x": "null"}, "a": {"value": `null`}}, nil, []string{
			`error ns/s (spec.params.a.value): the param "value" has no value (remove it to have the default)`,
			`error ns/s (spec.params.b.x): the param "x" has no value (remove it to have the default)`,
			`error ns/s (spec.params.b.y): the param "y" has no value (remove it to have the default)`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Read(setOf("s", edictv1.PolicySetSpec{Params: params(tc.spec)}), at("m", map[string]string{"a.yaml": policy("a", ""), "b.yaml": policy("b", ""), "params.yaml": tc.text}))
			if diff := cmp.Diff(tc.want, messages(c.Problems)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			got := map[string]string{}
			for _, u := range c.Units {
				p, problems, err := NewCompiler(nil, nil).Compile(t.Context(), u, known(nil))
				switch {
				case err != nil:
					t.Error(err)
				case p != nil:
					got[u.Name()], _ = p.Params["value"].Value().(string)
				case cmp.Diff(tc.want, messages(problems)) != "":
					t.Errorf("%s: %q", u.ID(), messages(problems))
				}
			}
			if tc.values == nil {
				tc.values = map[string]string{}
			}
			if diff := cmp.Diff(tc.values, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestSameUnit: errors of a set are the same each time that it is read, or its policies would be checked
// again and again; and what cannot be read is not the same as nothing.
func TestSameUnit(t *testing.T) {
	t.Parallel()
	values := map[string]map[string]string{}
	for i := range 20 {
		values[fmt.Sprint("p", i)] = map[string]string{"x": "null", "y": "null"}
	}
	read := func(spec edictv1.PolicySetSpec) *Unit {
		return Read(setOf("s", spec), at("m", map[string]string{"a.yaml": policy("a", "")})).Units[0]
	}
	wrong := read(edictv1.PolicySetSpec{Params: params(values)})
	for range 5 {
		if !wrong.Same(read(edictv1.PolicySetSpec{Params: params(values)})) {
			t.Fatal("the same errors are others")
		}
	}
	base := read(edictv1.PolicySetSpec{})
	for name, spec := range map[string]edictv1.PolicySetSpec{
		"an error":        {Params: params(values)},
		"another mode":    {Mode: edictv1.ModeEnforce},
		"another account": {ServiceAccountName: "mine"},
		"a shadow":        {ShadowOf: &edictv1.LocalReference{Name: "t"}},
		"a value":         {Params: params(map[string]map[string]string{"a": {"value": `"b"`}})},
	} {
		if base.Same(read(spec)) {
			t.Errorf("%s: it is the same", name)
		}
	}
	if suspend := true; !base.Same(read(edictv1.PolicySetSpec{Suspend: &suspend, Modes: map[string]edictv1.Mode{"b": edictv1.ModeDisabled}})) {
		t.Error("it is another one, although it decides the same")
	}
}

// TestStepsOfASet: steps that cannot be read stop the policies: they would come into force at once.
func TestStepsOfASet(t *testing.T) {
	t.Parallel()
	five := int32(5)
	steps := []edictv1.Step{{Percent: &five}}
	for name, tc := range map[string]struct {
		of   *edictv1.Rollout
		want []string
	}{
		"none":    {nil, []string{}},
		"steps":   {&edictv1.Rollout{Steps: steps, Interval: "10m"}, []string{}},
		"no time": {&edictv1.Rollout{Steps: steps}, []string{`error ns/s (spec.rollout): interval "" is not a duration above 0, such as 10m`}},
	} {
		c := Read(setOf("s", edictv1.PolicySetSpec{Rollout: tc.of}), at("m", map[string]string{"a.yaml": policy("a", "")}))
		if diff := cmp.Diff(tc.want, messages(c.Problems)); diff != "" || len(c.Units[0].Unread) != len(tc.want) || (c.Rollout != nil) != (tc.of != nil && len(tc.want) == 0) {
			t.Errorf("%s: %+v, -want +got:\n%s", name, c.Rollout, diff)
		}
	}
}

// TestAllowancesOfASet: they are those of documents; * is any group, and "" the core group.
func TestAllowancesOfASet(t *testing.T) {
	t.Parallel()
	group := func(name string) *string { return &name }
	s := setOf("s", edictv1.PolicySetSpec{Allow: []edictv1.Allowance{
		{Policy: "a", APIGroup: group("apps"), Kind: "Deployment", Fields: []string{"create", "delete"}, Namespaces: []string{"n", "m"}, Obeys: []string{"spec.x"}},
		{Policy: "b", APIGroup: group("*"), Kind: "Pod", Fields: []string{"*"}},
		{Policy: "c", APIGroup: group(""), Kind: "Pod"},
		{Policy: "d", Kind: "Pod"},
	}})
	var got []string
	for _, a := range s.Allowances() {
		text := fmt.Sprintf("%s %q %v %s", a.Policy.Value, a.APIGroup.Value, a.APIGroup.Set(), a.ForKind.Value)
		for _, f := range a.Fields {
			text += " " + f.Value
		}
		for _, f := range a.Namespaces {
			text += " in " + f.Value
		}
		for _, f := range a.Obeys {
			text += " obeys " + f.Value
		}
		got = append(got, text)
		if a.Pos.File != "ns/s (spec.allow)" {
			t.Errorf("it is at %s", a.Pos)
		}
	}
	want := []string{`a "apps" true Deployment create delete in n in m obeys spec.x`, `b "" false Pod *`, `c "" true Pod`, `d "" false Pod`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	c := Read(s, at("m", map[string]string{"a.yaml": policy("a", "")}))
	if n := len(c.Allowances(nil)); n != 4 {
		t.Errorf("%d allowances of the set", n)
	}
	if n := len(Read(nil, at("m", nil)).Allowances(s.Allowances()[:1])); n != 1 {
		t.Errorf("%d allowances without a set", n)
	}
}

// TestCauses: problems are told with the key or the field that they are about, and their place in it.
func TestCauses(t *testing.T) {
	t.Parallel()
	c := Read(setOf("s", edictv1.PolicySetSpec{Params: params(map[string]map[string]string{"a": {"value": "null"}})}), at("m", map[string]string{"a.yaml": policy("a", "  nonsense: 1\n")}))
	var got []string
	for _, cause := range c.Causes(c.Problems, document.Error) {
		first, _, _ := strings.Cut(cause.Message, "\n")
		got = append(got, cause.Field+" "+first)
	}
	want := []string{
		"data[a.yaml] 6:3: error: spec has no field \"nonsense\"",
		"spec.params.a.value error: the param \"value\" has no value",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if text := c.ProblemText(c.Problems, document.Error); !strings.HasPrefix(text, "a.yaml:6:3: error: ") || !strings.Contains(text, "\nspec.params.a.value: error: ") {
		t.Errorf("the text is %s", text)
	}
}

// TestMarksOfPolicies: the marks that the engine writes are those that a policy may write, in a set and
// in a file.
func TestMarksOfPolicies(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: a}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  finalizer: {name: example.com/a, until: "object.metadata.name == 'b'"}
  children:
    - {name: c, whenUnwanted: Orphan, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${key.name}-c"}}}
  inputs: [{name: pods, apiVersion: v1, kind: Pod}]
  rules:
    - {name: since when, when: {held: "object.metadata.name == 'b'", for: 5m}, do: [{labels: {set: {a: b}}}]}
    - {name: not often, rate: {max: 2, per: 1m}, forEach: inputs.pods, do: [{delete: {of: item}}]}
`
	shadow := edictv1.PolicySetSpec{ShadowOf: &edictv1.LocalReference{Name: "t"}}
	for name, set := range map[string]*Set{"a file": nil, "a set": setOf("s", edictv1.PolicySetSpec{}), "a shadow": setOf("s", shadow)} {
		c := Read(set, at("m", map[string]string{"a.yaml": text}))
		p, problems, err := NewCompiler(nil, nil).Compile(t.Context(), c.Units[0], known(nil))
		if err != nil || p == nil || document.HasErrors(problems) {
			t.Errorf("%s: %q (%v)", name, messages(append(c.Problems, problems...)), err)
		}
	}
}

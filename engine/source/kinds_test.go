package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/value"
)

// ofKinds is a policy for some kinds of apps/v1, with a param.
func ofKinds(name, rule string, kinds ...string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for:\n    kinds: [{apiVersion: apps/v1, kind: " + strings.Join(kinds, "}, {apiVersion: apps/v1, kind: ") + "}]\n" +
		"  params: {n: \"1\"}\n  rules:\n    - name: r\n" + rule
}

const always = "      do: [{labels: {set: {n: \"${params.n}\"}}}]\n"

// loaded loads the text of a file.
func loaded(t *testing.T, text string, o Options) (*Bundle, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Load([]string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, p := range b.Problems {
		problems = append(problems, strings.TrimPrefix(p.Error(), filepath.Dir(path)+"/"))
	}
	return b, problems
}

// TestFindingsOfKinds: what all kinds have is said once, what some have with their names.
func TestFindingsOfKinds(t *testing.T) {
	t.Parallel()
	kinds := []string{"Deployment", "StatefulSet", "DaemonSet"}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"all":       {ofKinds("p", "      when: object.spec.replcas > 1\n"+always, kinds...), []string{`p.yaml:10:24: no field "replcas" here (did you mean "replicas"?)`}},
		"one":       {ofKinds("p", "      when: object.spec.replicas > 1\n"+always, kinds...), []string{`p.yaml:10:24: no field "replicas" here (for the kind DaemonSet)`}},
		"two":       {ofKinds("p", "      when: object.spec.serviceName == \"\"\n"+always, kinds...), []string{`p.yaml:10:24: no field "serviceName" here (for the kinds Deployment and DaemonSet) (did you mean "service"?)`}},
		"a warning": {ofKinds("p", always+"    - name: s\n", kinds...), []string{`p.yaml:11:7: the rule "s" does nothing: it has neither do, nor cases, nor stop`}},
		"the warning of those that compile": {ofKinds("p", "      when: object.spec.replicas > 1\n"+always+"  variables: [{name: v, expression: '1'}]\n", kinds...), []string{
			`p.yaml:10:24: no field "replicas" here (for the kind DaemonSet)`, `p.yaml:12:22: the variable "v" is used by no rule and no metric`}},
		"another policy": {ofKinds("p", always, kinds...) + "---\n" + strings.Replace(policy("p-daemonset", ""), "a.yaml", "p.yaml", 1), []string{
			`p.yaml:15:9: the policy "p-daemonset" is defined twice, first at p.yaml:3:18 (the document "p" at p.yaml:3:18 is a policy for each of its kinds, of which DaemonSet is this one)`}},
		"two documents": {ofKinds("p", always, kinds[0]) + "---\n" + ofKinds("p", always, kinds...), []string{
			`p.yaml:14:18: the policy "p-deployment" is defined twice, first at p.yaml:3:18 (the document "p" at p.yaml:3:18 is a policy for each of its kinds, of which Deployment is this one)`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, problems := loaded(t, tc.text, Options{})
			for i := range problems { // where the file is
				problems[i] = strings.ReplaceAll(problems[i], filepath.Dir(b.Units[0].File.Path)+"/", "")
			}
			if diff := cmp.Diff(tc.want, problems); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// values returns what the param of each policy is.
func values(b *Bundle) map[string]string {
	out := map[string]string{}
	for _, p := range b.Policies {
		out[p.Name] = fmt.Sprint(value.Plain(p.ParamInfo[0].Value))
	}
	return out
}

// TestParamsOfKinds: a value for the document is one for each kind, unless the kind has
// its own.
func TestParamsOfKinds(t *testing.T) {
	t.Parallel()
	b, problems := loaded(t, ofKinds("p", always, "Deployment", "DaemonSet"), Options{Params: compile.TypedOverrides(map[string]map[string]string{"p": {"n": "2"}, "p-daemonset": {"n": "3"}}, Typed)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff(map[string]string{"p-deployment": "2", "p-daemonset": "3"}, values(b)); diff != "" {
		t.Error(diff)
	}
	_, problems = loaded(t, ofKinds("p", always, "Deployment", "DaemonSet"), Options{Params: compile.TypedOverrides(map[string]map[string]string{"p": {"m": "2"}}, Typed)})
	if diff := cmp.Diff([]string{`p.yaml:3:18: the policy p has no param "m"`}, problems); diff != "" {
		t.Error(diff)
	}
	if _, err := Load([]string{b.Units[0].File.Path}, Options{Params: compile.TypedOverrides(map[string]map[string]string{"p-pod": {"n": "2"}}, Typed)}); err == nil {
		t.Error("values for a policy that does not exist are taken")
	}
}

// TestPolicyOfAUnit: the policies of a document have one place.
func TestPolicyOfAUnit(t *testing.T) {
	t.Parallel()
	b, _ := loaded(t, ofKinds("p", always, "Deployment", "DaemonSet"), Options{})
	for _, u := range b.Units {
		if p := b.Policy(u); p == nil || p.Name != u.Name() || p.Of != "p" || p.Primary.Kind != u.Document.Spec.For.Kind.Value {
			t.Errorf("%s: %+v", u.Name(), p)
		}
	}
}

// TestSetOfKinds: a set names the document or one of its policies, in modes and in values. Its values
// win over those of the text, and those that were typed over both.
func TestSetOfKinds(t *testing.T) {
	t.Parallel()
	text := map[string]string{"p.yaml": ofKinds("p", always, "Deployment", "StatefulSet", "DaemonSet"), "params.yaml": "p: {n: \"2\"}\np-daemonset: {n: \"3\"}\n"}
	for name, tc := range map[string]struct {
		spec  map[string]map[string]string
		typed compile.Overrides
		want  map[string]string
	}{
		"of the text":      {nil, nil, map[string]string{"p-deployment": "2", "p-statefulset": "2", "p-daemonset": "3"}},
		"for the document": {map[string]map[string]string{"p": {"n": `"4"`}}, nil, map[string]string{"p-deployment": "4", "p-statefulset": "4", "p-daemonset": "4"}},
		"for one, too":     {map[string]map[string]string{"p": {"n": `"4"`}, "p-statefulset": {"n": `"5"`}}, nil, map[string]string{"p-deployment": "4", "p-statefulset": "5", "p-daemonset": "4"}},
		"typed values":     {map[string]map[string]string{"p-statefulset": {"n": `"5"`}}, compile.TypedOverrides(map[string]map[string]string{"p": {"n": "6"}}, Typed), map[string]string{"p-deployment": "6", "p-statefulset": "6", "p-daemonset": "6"}},
	} {
		spec := edictv1.PolicySetSpec{Mode: edictv1.ModeEnforce, Modes: map[string]edictv1.Mode{"p": edictv1.ModeShadow, "p-daemonset": edictv1.ModeDisabled}, Params: params(tc.spec)}
		c := NewCatalog([]*Contents{Read(setOf("s", spec), at("m", text))}, tc.typed)
		if len(c.Contents[0].Problems) > 0 {
			t.Errorf("%s: %v", name, c.Contents[0].Problems)
		}
		got := map[string]string{}
		for _, u := range c.Units {
			got[u.Name()] = u.Overrides["n"].Text
			if u.Mode != map[bool]string{true: "Disabled", false: "Shadow"}[u.Name() == "p-daemonset"] {
				t.Errorf("%s: %s is %s", name, u.Name(), u.Mode)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if ids := c.Named("p"); !slices.Equal(ids, []string{"s/p-daemonset", "s/p-deployment", "s/p-statefulset"}) || !c.Has("p-daemonset") || c.Has("p-pod") {
			t.Errorf("%s: %v", name, ids)
		}
	}
}

// TestRevisionOfKinds: kinds that come and go leave the others as they are.
func TestRevisionOfKinds(t *testing.T) {
	t.Parallel()
	revisions := func(kinds ...string) map[string]string {
		out := map[string]string{}
		for _, u := range Read(nil, at("m", map[string]string{"p.yaml": ofKinds("p", always, kinds...)})).Units {
			out[u.Name()] = u.Revision()
		}
		return out
	}
	two, three := revisions("Deployment", "DaemonSet"), revisions("StatefulSet", "DaemonSet", "Deployment")
	delete(three, "p-statefulset")
	if diff := cmp.Diff(two, three); diff != "" || len(two) != 2 || two["p-deployment"] == two["p-daemonset"] {
		t.Errorf("%v: %s", two, diff)
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// policyText is a policy that labels nodes; more goes into its spec.
func policyText(name, more string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n" + more + "  params: {label: a}\n" +
		"  for: {apiVersion: v1, kind: Node}\n  rules:\n    - name: mark\n      do: [{labels: {set: {\"${params.label}\": x}}}]\n"
}

// inSets are the policies of sets named a, b and so on, each of a ConfigMap of the same name, and what is
// printed about them.
func inSets(t *testing.T, maps ...map[string]string) (*policySet, string) {
	t.Helper()
	var contents []*source.Contents
	for i, data := range maps {
		s := setOf(string(rune('a'+i)), nil)
		s.Namespace = "ns"
		contents = append(contents, source.Read(source.NewSet(s), &source.ConfigMap{Namespace: "ns", Name: s.Name, Data: data}))
	}
	var told bytes.Buffer
	set, err := compiled(source.NewCatalog(contents, nil), schema.Builtin(), &told)
	if err != nil {
		t.Fatal(err)
	}
	set.where = "there"
	return set, told.String()
}

func namesOf(policies []*plan.Policy) (out []string) {
	for _, p := range policies {
		out = append(out, p.ID())
	}
	return out
}

// TestFromSets: what is wrong is told once, and in one order. Two sets may have policies of one name.
func TestFromSets(t *testing.T) {
	t.Parallel()
	broken, bad := policyText("broken", "  nonsense: 1\n"), strings.Replace(policyText("bad", ""), "params.label", "params.lable", 1)
	set, told := inSets(t,
		map[string]string{"one.yaml": policyText("one", ""), "three.yaml": policyText("three", ""), "params.yaml": "one: {label: 1}\n"},
		map[string]string{"bad.yaml": bad, "broken.yaml": broken, "three.yaml": policyText("three", "")},
		map[string]string{"four.yaml": policyText("four", ""), "params.yaml": "nobody: [\n"})
	want := []string{"ns/a/params.yaml:1:14: error: ", "ns/b/bad.yaml:9:31: error: ", "ns/b/broken.yaml:5:3: error: ", "ns/c/params.yaml:1:1: error: not valid YAML"}
	var got []string
	for line := range strings.Lines(told) {
		if strings.HasPrefix(line, "ns/") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("told:\n%s", told)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	for _, d := range []string{
		cmp.Diff([]string{"a/three", "b/three"}, namesOf(set.policies)), cmp.Diff([]string{"a/one", "b/bad", "c/four"}, set.broken),
	} {
		if d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}

// TestChooseAmongBrokenOnes: a policy is named with its set or without, also one that does not compile.
func TestChooseAmongBrokenOnes(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(policyText("one", ""), "params.label", "params.lable", 1)
	set, _ := inSets(t,
		map[string]string{"one.yaml": policyText("one", ""), "two.yaml": strings.Replace(bad, "name: one", "name: two", 1)}, map[string]string{"one.yaml": bad})
	for names, want := range map[string]struct{ chosen, broken, err string }{
		"": {"a/one", "a/two b/one", ""}, "one": {"a/one", "b/one", ""}, "a/one": {"a/one", "", ""}, "two": {"", "a/two", ""}, "a/two": {"", "a/two", ""}, "b/one": {"", "b/one", ""},
		"one two": {"a/one", "a/two b/one", ""}, "one tow": {"", "b/one", `there is no policy "tow" here`},
	} {
		chosen, broken, err := set.choose(strings.Fields(names))
		got := strings.Join(namesOf(chosen), " ")
		if got != want.chosen || strings.Join(broken, " ") != want.broken || (err != nil) != (want.err != "") || err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%q: %q, broken %q, %v", names, got, broken, err)
		}
	}
	empty, _ := inSets(t)
	if _, _, err := empty.choose(nil); err == nil || err.Error() != "no policy found there" {
		t.Errorf("among none: %v", err)
	}
}

// TestChooseKinds: the name of a document is that of its policies, also of those that do not
// compile.
func TestChooseKinds(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("apiVersion: v1, kind: Node", "kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: DaemonSet}]", "name: mark\n", "name: mark\n      when: object.spec.replicas > 1\n").Replace(policyText("one", ""))
	set, told := inSets(t, map[string]string{"one.yaml": text})
	if !strings.Contains(told, `no field "replicas" here (for the kind DaemonSet)`) {
		t.Error(told)
	}
	for names, want := range map[string][2]string{
		"one": {"a/one-deployment", "a/one-daemonset"}, "one one-daemonset": {"a/one-deployment", "a/one-daemonset"}, "one-daemonset": {"", "a/one-daemonset"}, "one-deployment": {"a/one-deployment", ""},
	} {
		chosen, broken, err := set.choose(strings.Fields(names))
		if got := [2]string{strings.Join(namesOf(chosen), " "), strings.Join(broken, " ")}; got != want || err != nil {
			t.Errorf("%q: %q, %v", names, got, err)
		}
	}
}

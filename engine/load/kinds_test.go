package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ofKinds is a policy for some kinds.
func ofKinds(name, primary string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + ", labels: {a: b}}\nspec:\n  for: {" + primary + "}\n" +
		"  variables: [{name: v, expression: object.metadata.name}]\n"
}

// TestKinds: a document for several kinds is one policy for each of them, with the same
// nodes for all that is the same.
func TestKinds(t *testing.T) {
	t.Parallel()
	file, wrong := problemsOf(ofKinds("p", "selector: a=b, kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: Pod}]"))
	if len(wrong) > 0 || len(file.Policies) != 2 {
		t.Fatal(len(file.Policies), wrong)
	}
	var got []any
	for _, p := range file.Policies {
		got = append(got, p.Metadata.Name.Value, p.Of, p.Node.Get("metadata").Get("name").Text, p.Node.Get("spec").Get("for").Plain(), p.Spec.For.Kind.Value, p.Metadata.Name.Pos().String(), len(p.Spec.For.Kinds))
	}
	want := []any{
		"p-deployment", "p", "p-deployment", map[string]any{"selector": "a=b", "apiVersion": "apps/v1", "kind": "Deployment"}, "Deployment", "f.yaml:3:18", 0,
		"p-pod", "p", "p-pod", map[string]any{"selector": "a=b", "apiVersion": "v1", "kind": "Pod"}, "Pod", "f.yaml:3:18", 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	a, b := file.Policies[0], file.Policies[1]
	if a.Pos != b.Pos || a.Node.Get("spec").Get("variables") != b.Node.Get("spec").Get("variables") {
		t.Error("what is the same is copied")
	}
}

// TestOneKindInAList: the name does not change when other kinds come and go.
func TestOneKindInAList(t *testing.T) {
	t.Parallel()
	file, wrong := problemsOf(ofKinds("p", "kinds: [{apiVersion: v1, kind: Pod}]"))
	if len(wrong) > 0 || len(file.Policies) != 1 || file.Policies[0].Metadata.Name.Value != "p-pod" {
		t.Errorf("%+v, %v", file.Policies, wrong)
	}
}

func TestWrongKinds(t *testing.T) {
	t.Parallel()
	const pod = "{apiVersion: v1, kind: Pod}"
	many := make([]string, MaxKinds+1)
	for i := range many {
		many[i] = fmt.Sprintf("{apiVersion: v1, kind: K%d}", i)
	}
	for name, tc := range map[string]struct{ name, primary, want string }{
		"none":                {"p", "kinds: []", "f.yaml:5:16: spec.for.kinds is empty (kinds: ["},
		"no list":             {"p", "kinds: Pod", "f.yaml:5:16: spec.for.kinds must be a list, not a string"},
		"empty":               {"p", "kinds: ", "f.yaml:5:16: spec.for.kinds must be a list, not null"},
		"a kind and kinds":    {"p", "kind: Pod, kinds: [" + pod + "]", "spec.for has kinds, and a kind (leave out apiVersion and kind)"},
		"too many":            {"p", "kinds: [" + strings.Join(many, ", ") + "]", "spec.for has 21 kinds, at most 20 are allowed (write another document for the others)"},
		"no name":             {"", "kinds: [" + pod + "]", "metadata.name is empty"},
		"no apiVersion":       {"p", "kinds: [{kind: Pod}]", "f.yaml:5:17: a kind of spec.for needs apiVersion and kind (such as {"},
		"no kind":             {"p", "kinds: [{apiVersion: v1}]", "a kind of spec.for needs apiVersion and kind"},
		"one twice":           {"p", "kinds: [" + pod + ", " + pod + "]", "f.yaml:5:46: spec.for has the kind Pod twice (leave it out)"},
		"of two groups":       {"p", "kinds: [" + pod + ", {apiVersion: a.b/v1, kind: Pod}]", `f.yaml:5:46: the kinds Pod of v1 and of a.b/v1 would both be the policy "p-pod" (write another document for it)`},
		"that differ by case": {"p", "kinds: [" + pod + ", {apiVersion: a.b/v1, kind: POD}]", `the kinds POD of v1 and of a.b/v1 would both be the policy "p-pod"`},
		"a long name":         {strings.Repeat("p", 60), "kinds: [" + pod + "]", "f.yaml:3:18: the policy for the kind Pod would be \"" + strings.Repeat("p", 60) + "-pod\": a name has at most 63 characters (shorten metadata.name)"},
		"an unknown field":    {"p", "kinds: [" + pod + "], sel: a", `spec.for has no field "sel"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, wrong := problemsOf(ofKinds(tc.name, tc.primary))
			if len(file.Policies) > 0 || len(wrong) != 1 || !strings.Contains(wrong[0], tc.want) {
				t.Errorf("%d policies, %q, want one with %q", len(file.Policies), wrong, tc.want)
			}
		})
	}
}

// TestKindsWithoutAName: each of the policies would have that of its kind.
func TestKindsWithoutAName(t *testing.T) {
	t.Parallel()
	_, wrong := problemsOf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nspec: {for: {kinds: [{apiVersion: v1, kind: Pod}]}}\n")
	if diff := cmp.Diff([]string{"f.yaml:1:1: metadata.name is missing"}, wrong); diff != "" {
		t.Error(diff)
	}
}

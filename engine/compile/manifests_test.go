package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

func withAction(action string) string {
	return header + "\n  rules:\n    - name: r\n      do:\n        - " + strings.ReplaceAll(strings.TrimSpace(action), "\n", "\n          ") + "\n"
}

const quotaManifest = "apply: {apiVersion: v1, kind: ResourceQuota, metadata: {name: a, namespace: b}, spec: {hard: {cpu: \"1\"}}}\n"

// withOwner is a ConfigMap with an owner.
func withOwner(apiVersion, kind, more string) string {
	return "apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, ownerReferences: [{apiVersion: " + apiVersion + ", kind: " + kind + ", name: c" + more + "}]}}\n"
}

func TestHowChildrenAreWritten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ action, want string }{
		"a field that is not there":   {quotaManifest + "once: [spec.hrad]", `ResourceQuota has no field "spec.hrad"`},
		"a field in a list":           {withOwner("apps/v1", "Deployment", ", uid: u") + "once: [metadata.ownerReferences.name]", `has no field "metadata.ownerReferences.name" (the path of a field, as in spec.replicas; a list is kept as a whole`},
		"a field of the identity":     {quotaManifest + "once: [metadata.name]", `"metadata.name" names the object`},
		"another word":                {quotaManifest + "ifExists: force", `ifExists cannot be "force"`},
		"an action that is no apply":  {"log: {message: a}\nonce: [spec.hard]", "only apply takes once and ifExists"},
		"a propagation":               {"delete: {propagation: Sideways}", `propagation cannot be "Sideways"`},
		"a flag":                      {`delete: {ifUnchanged: "yes"}`, "ifUnchanged must be true or false"},
		"a grace period":              {"delete: {gracePeriod: 1500ms}", `gracePeriod cannot be "1500ms" (a duration in whole seconds, such as 30s)`},
		"a grace period of an item":   {"delete: {gracePeriod: \"${string(object.metadata.generation)}s\"}", ""},
		"an owner without uid":        {withOwner("apps/v1", "Deployment", ""), "the owner reference has no uid"},
		"an owner of another kind":    {withOwner("apps/v1", "Deploymnt", ", uid: u"), `apps/v1 has no kind "Deploymnt"`},
		"an owner of another version": {withOwner("apps/v1beta1", "Deployment", ", uid: u"), `apps/v1beta1 has no kind "Deployment", so the garbage collector finds no such owner (write apiVersion: apps/v1)`},
		"an owner of no group":        {withOwner("extensions/v1beta1", "Deployment", ", uid: u"), `(write apiVersion: apps/v1)`},
		"an owner":                    {withOwner("apps/v1", "Deployment", ", uid: u"), ""},
		"an owner that is not known":  {withOwner("example.com/v1", "App", ", uid: u"), ""},
		"all that an apply may say":   {quotaManifest + "once: [spec.hard]\nifExists: take", ""},
		"all that a deletion may say": {"delete: {propagation: Orphan, gracePeriod: 30s, ifUnchanged: false}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, withAction(tc.action), PolicyOptions{})
			got := ""
			if len(problems) > 0 {
				got = document.Join(problems).Error()
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestDefaultsOfChildren(t *testing.T) {
	t.Parallel()
	p, _ := compiled(t, withAction("delete: {}"), PolicyOptions{})
	got, _ := p.Rules[0].Do[0].(*plan.Delete)
	if got == nil || got.Propagation != plan.Background || got.Changed || got.GracePeriod != nil {
		t.Errorf("%+v", got)
	}
	p, _ = compiled(t, withAction(quotaManifest+"once: [spec.hard]"), PolicyOptions{})
	child, _ := p.Rules[0].Do[0].(*plan.Child)
	if child == nil || child.Take {
		t.Fatalf("%+v", child)
	}
	if diff := cmp.Diff([][]string{{"spec", "hard"}}, child.Once); diff != "" {
		t.Error(diff)
	}
}

// TestPlacesOfWhatIsWrong: what is wrong in what names a child is found once, where it
// stands, although the keys of the wanted children are made of it as well.
func TestPlacesOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	const spec = `
  children:
    - name: c
      forEach: '[1]'
      as: item
      when: "bar"
      variables: [{name: v, expression: wrong}]
      apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: "a-${objec}", name: "${key.name}-${itme}"}}
`
	_, problems := compiled(t, header+spec, PolicyOptions{})
	lines := strings.Split(header+spec, "\n")
	got := map[string]int{}
	for _, p := range problems {
		got[strings.FieldsFunc(lines[p.Line-1][p.Column-1:], func(r rune) bool { return strings.ContainsRune(`"}] `, r) })[0]]++
	}
	if diff := cmp.Diff(map[string]int{"bar": 1, "wrong": 1, "objec": 1, "itme": 1}, got); diff != "" {
		t.Errorf("problems by what stands there (-want +got):\n%s\n%v", diff, problems)
	}
}

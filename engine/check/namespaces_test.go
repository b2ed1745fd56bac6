package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamespaces: comparisons of namespaces in inputs that are restricted to the
// namespace of the primary object, and no others.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	const other, redundant = "other-namespace", "redundant-namespace"
	for where, want := range map[string]string{
		`item.metadata.namespace == key.namespace`:                                            redundant,
		`object.metadata.namespace == item.metadata.namespace && item.spec.nodeName == "x"`:   redundant,
		`item.metadata.?namespace.orValue("") == key.namespace && item.spec.nodeName == "x"`:  redundant,
		`item.metadata.namespace != key.namespace`:                                            other,
		`item.metadata.namespace == "x"`:                                                      other,
		`item.metadata.namespace != "x"`:                                                      other,
		`item.metadata.namespace in ["x"]`:                                                    other,
		`item.spec.nodeName == key.name || item.metadata.namespace == params.ns`:              other,
		`object.metadata.finalizers.exists(f, f == item.metadata.namespace)`:                  other,
		`item.spec.tolerations.exists(t, t.key == key.namespace)`:                             other,
		`item.metadata.annotations["of"] == key.namespace && item.spec.nodeName == "x"`:       other,
		`key.namespace in item.metadata.finalizers`:                                           other,
		`item.metadata.namespace == item.spec.nodeName`:                                       "",
		`item.spec.tolerations.exists(t, t.key == item.metadata.namespace)`:                   "",
		`object.metadata.finalizers.exists(f, f == key.namespace) && item.spec.nodeName=="x"`: "",
		`item.spec.nodeName == key.name`:                                                      "",
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			text := `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: apps/v1, kind: Deployment}
  params: {ns: x}
  inputs:
    - name: pods
      apiVersion: v1
      kind: Pod
      within: namespace
      where: '` + where + `'
  rules: [{name: mark, when: size(inputs.pods) > 0 && params.ns != "", do: [{labels: {set: {a: b}}}]}]
`
			if diff := cmp.Diff(want, codes(found(t, text))); diff != "" {
				t.Error(diff)
			}
			if got := codes(found(t, strings.Replace(text, "within: namespace", "within: cluster", 1))); got != "" {
				t.Errorf("within: cluster, too: %s", got)
			}
		})
	}
}

// codes are those of findings about namespaces, without the others.
func codes(found []string) string {
	var out []string
	for _, f := range found {
		if _, code, _ := strings.Cut(f, " "); strings.HasSuffix(code, "-namespace") || code == "invalid" {
			out = append(out, code)
		}
	}
	return strings.Join(out, " ")
}

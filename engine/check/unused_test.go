package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnusedInChildren: the variables of a child are used by what it applies, by its
// name or by its condition, which are computed apart from each other.
func TestUnusedInChildren(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Service}
  children:
    - name: items
      forEach: '["a", "b"]'
      variables:
        - {name: content, expression: item + "x"}
        - {name: id, expression: item + "y"}
        - {name: wanted, expression: id != "by"}
        - {name: other, expression: item + "z"}
        - {name: list, forEach: '[1, 2]', as: i, variables: [{name: j, expression: i + 1}], value: "${j}"}
      when: wanted
      apply:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: "${key.name}-${id}"}
        data: {x: "${content}", list: "${json.encode(list)}"}
`
	var got []string
	for _, finding := range found(t, text) {
		if strings.HasSuffix(finding, "unused-variable") {
			got = append(got, finding)
		}
	}
	if diff := cmp.Diff([]string{"13 unused-variable"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

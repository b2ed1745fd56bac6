package verify

import (
	"path/filepath"
	"testing"
)

const keeping = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: keep}
spec:
  for: {apiVersion: v1, kind: Namespace}
  children:
    - name: limits
      when: object.metadata.?labels[?"limited"].orValue("") == "yes"
      apply:
        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: limits, namespace: "${key.name}"}
        spec: {hard: {pods: "10"}}
---
apiVersion: edict.dev/v1alpha1
kind: Allowances
metadata: {name: keep}
spec: {allow: [{policy: keep, kind: ResourceQuota, fields: [delete]}]}
`

// TestChildrenStayWithTheirObject: nobody says from outside for which primary object a
// child is kept, which the policy would have to refuse.
func TestChildrenStayWithTheirObject(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keep.yaml")
	file(t, path, keeping)
	world := []string{
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {limited: 'yes'}}\n",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n",
	}
	if r := explored(t, path, world, 1); len(r.Findings) > 0 {
		t.Errorf("found %+v", r.Findings)
	}
}

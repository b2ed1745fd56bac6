package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// kindsOf is a document that marks the objects of some kinds of v1 that are named marked.
func kindsOf(kinds ...string) string {
	return fmt.Sprintf(`
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {kinds: [{apiVersion: v1, kind: %s}]}
  params: {text: a}
  rules:
    - name: mark
      when: object.metadata.name == "marked"
      do: [{labels: {set: {mark: "${params.text}"}}}]
`, strings.Join(kinds, "}, {apiVersion: v1, kind: "))
}

// TestAPolicyForSeveralKinds: it runs for each kind, and when a kind is added or removed the
// others go on by the revision that they have.
func TestAPolicyForSeveralKinds(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("marked", "z", true, time.Now()))
	c.put(object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "marked", "namespace": "default"}, "spec": object{"ports": []any{object{"port": int64(80)}}}})
	c.put(object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "marked", "namespace": "default"}})
	c.putSet("mark", map[string]string{"p.yaml": kindsOf("Node", "Service")})
	edict := c.fromSets(nil)
	marked := func(kind, namespace, want string) {
		t.Helper()
		c.wantPath(kind, namespace, "marked", want, "metadata", "labels", "mark")
	}
	marked("Node", "", "a")
	marked("Service", "default", "a")
	c.merge("ConfigMap", home, "mark", "", object{"data": object{"p.yaml": kindsOf("ConfigMap", "Node")}})
	marked("ConfigMap", "default", "a")
	eventually(t, "the policies", func() string {
		if service, other := c.revisionOf("mark", "mark-service"), c.revisionOf("mark", "mark-configmap"); service != "" || other == "" {
			return fmt.Sprintf("service %q, configmap %q", service, other)
		}
		return ""
	})
	if n := strings.Count(edict.log.String(), `"the policy runs","policy":"mark/mark-node"`); n != 1 {
		t.Errorf("the policy of Nodes was put in force %d times", n)
	}
	c.merge("Service", "default", "marked", "", labelsOf(object{"mark": nil}))
	c.merge("Node", "", "marked", "", labelsOf(object{"mark": nil}))
	marked("Node", "", "a")
	marked("Service", "default", "<nil>")
}

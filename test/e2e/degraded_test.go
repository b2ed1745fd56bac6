package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// copies is a policy that copies a label of every node, and fails without it.
func copies(name, from string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for: {apiVersion: v1, kind: Node}\n" +
		"  rules: [{name: copy, do: [{labels: {set: {copied: \"${object.metadata.labels." + from + "}\"}}}]}]\n"
}

// asController returns the limited user what the controller does in its own
// namespace.
func (c *cluster) asController() {
	c.t.Helper()
	c.grant("controller", home, []rbac.Rule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"edict.dev"}, Resources: []string{"policysets"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{APIGroups: []string{"edict.dev"}, Resources: []string{"policysets/status"}, Verbs: []string{"get", "patch"}},
		{APIGroups: []string{"apps"}, Resources: []string{"controllerrevisions"}, Verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	})
}

var clusterRoles = kschema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}

// nodeVerbs sets what the limited user may do with nodes.
func (c *cluster) nodeVerbs(verbs ...string) {
	c.t.Helper()
	role, err := c.client.Resource(clusterRoles).Get(c.t.Context(), "nodes", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	role.Object["rules"] = []any{object{"apiGroups": []any{""}, "resources": []any{"nodes"}, "verbs": anys(verbs)}}
	if _, err := c.client.Resource(clusterRoles).Update(c.t.Context(), role, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func labelsOf(pairs object) object { return object{"metadata": object{"labels": pairs}} }

// eventsOf counts the Events about ConfigMaps with a reason.
func (c *cluster) eventsOf(reason string) (n int) {
	c.t.Helper()
	list, err := c.client.Resource(kschema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(home).List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range list.Items {
		if e.Object["reason"] == reason {
			n++
		}
	}
	return n
}

// TestDegraded: what fails while a policy runs is told with the first object and
// how many there are, and no longer when it is over; an edit that would make
// objects fail is refused.
func TestDegraded(t *testing.T) {
	c := start(t, false)
	c.home()
	c.asController()
	c.grant("nodes", "", rulesOf("nodes", "get", "list", "watch", "patch"))
	c.put(node("a", "z", true, time.Now()))
	c.put(node("b", "z", true, time.Now()))
	c.merge("Node", "", "a", "", labelsOf(object{"team": "x", "other": "x"}))
	c.putSet("one", map[string]string{"one.yaml": copies("one", "team")})
	edict := c.fromSets(func(o *run.Options) { asLimited(o.Config) })
	c.wants("one", "Degraded", "True", "one: 1 of 2 objects fail: Node b: rule \"copy\"")
	if n := edict.metric("edict_policy_failing_objects", "one"); n != 1 {
		t.Errorf("the metric says %v objects", n)
	}
	c.merge("Node", "", "b", "", labelsOf(object{"team": "y"}))
	c.lacks("one", "Degraded")
	if n := edict.metric("edict_policy_failing_objects", "one"); n != 0 {
		t.Errorf("the metric says %v objects", n)
	}

	c.putSet("one", map[string]string{"one.yaml": copies("one", "other")})
	c.wants("one", "Ready", "False", "it fails for Node b, the one in force does not: rule \"copy\"")
	holds := strings.Replace(copies("one", "team"), "do: [", "do: [{finalizer: {name: example.com/x}}, ", 1)
	c.putSet("one", map[string]string{"one.yaml": holds})
	c.wants("one", "Ready", "False", "{policy: one, apiGroup: \"\", kind: Node, fields: [\"metadata.finalizers\"]}")
	c.putSet("one", map[string]string{"one.yaml": copies("one", "team")})
	c.wants("one", "Ready", "True Enforcing")

	c.nodeVerbs("get", "list", "watch")
	c.merge("Node", "", "a", "", labelsOf(object{"team": "z"}))
	c.wants("one", "Degraded", "True", "one: writes are stopped: permissions are missing: patch on nodes")
	failed := edict.metric("edict_errors_total", "one")
	time.Sleep(2 * time.Second) // no try is made
	if now := edict.metric("edict_errors_total", "one"); now != failed {
		t.Errorf("%v more tries", now-failed)
	}
	c.nodeVerbs("get", "list", "watch", "patch")
	c.wantPath("Node", "", "a", "z", "metadata", "labels", "copied")
	c.lacks("one", "Degraded")
	// The object that is refused may be told before it is known that all writes are.
	eventually(t, "the Events", func() string {
		if n := c.eventsOf("ObjectsFail"); n < 2 || n > 3 {
			return fmt.Sprintf("%d Events for two reasons", n)
		}
		return ""
	})
}

// TestStaleInputs: a kind that goes away while a policy runs makes what it knows
// stale, and it says so until the kind is back.
func TestStaleInputs(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	reads := strings.Replace(copies("one", "team"), "  rules:", "  inputs: [{name: pools, apiVersion: "+storage+", kind: ReplicatedStoragePool, selector: a=b}]\n  rules:", 1)
	c.putSet("one", map[string]string{"one.yaml": strings.Replace(reads, "object.metadata.labels.team", "string(size(inputs.pools))", 1)})
	c.fromSets(nil)
	c.wants("one", "Ready", "True Enforcing")
	crds := c.client.Resource(kschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if err := crds.Delete(t.Context(), "replicatedstoragepools.storage.deckhouse.io", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.wants("one", "Degraded", "True")
	c.installCRDs()
	c.wants("one", "Ready", "True Enforcing")
	made := pool("pool", object{"lvmVolumeGroups": refs("vg-a")})
	made["metadata"].(object)["labels"] = object{"a": "b"}
	c.put(made)
	c.wantPath("Node", "", "a", "1", "metadata", "labels", "copied")
}

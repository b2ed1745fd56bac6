package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/controlplane"
)

// limited is a user with no rights but those that every user has.
const limited = "limited"

func asLimited(config *rest.Config) {
	config.Impersonate = rest.ImpersonationConfig{UserName: limited, Groups: []string{"system:authenticated"}}
}

// grant returns the limited user rules of the cluster, or of a namespace.
func (c *cluster) grant(name, namespace string, rules []rbac.Rule) {
	c.t.Helper()
	kind, resource := "ClusterRole", "clusterroles"
	metadata := object{"name": name}
	if namespace != "" {
		kind, resource = "Role", "roles"
		metadata["namespace"] = namespace
	}
	var list []any
	for _, r := range rules {
		list = append(list, object{"apiGroups": anys(r.APIGroups), "resources": anys(r.Resources), "verbs": anys(r.Verbs), "resourceNames": anys(r.ResourceNames)})
	}
	const group = "rbac.authorization.k8s.io"
	c.make(kschema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}, object{
		"apiVersion": group + "/v1", "kind": kind, "metadata": metadata, "rules": list,
	})
	binding := strings.TrimSuffix(resource, "s") + "bindings"
	c.make(kschema.GroupVersionResource{Group: group, Version: "v1", Resource: binding}, object{
		"apiVersion": group + "/v1", "kind": kind + "Binding", "metadata": metadata,
		"roleRef":  object{"apiGroup": group, "kind": kind, "name": name},
		"subjects": []any{object{"apiGroup": group, "kind": "User", "name": limited}},
	})
}

// rulesOf allows verbs on a resource of the core group.
func rulesOf(resource string, verbs ...string) []rbac.Rule {
	return []rbac.Rule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}}
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// make makes an object of any resource.
func (c *cluster) make(resource kschema.GroupVersionResource, o object) {
	c.t.Helper()
	u := &unstructured.Unstructured{Object: o}
	_, err := c.client.Resource(resource).Namespace(u.GetNamespace()).Create(c.t.Context(), u, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		c.t.Fatalf("making %s %s: %v", u.GetKind(), u.GetName(), err)
	}
}

// grantDerived returns the limited user what is derived from policies, and
// nothing else.
func (c *cluster) grantDerived(folder string, names ...string) {
	c.t.Helper()
	bundle, err := source.Load([]string{folder}, source.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	chosen := slices.DeleteFunc(bundle.Policies, func(p *plan.Policy) bool { return !slices.Contains(names, p.Name) })
	permissions, err := rbac.Of(chosen, plan.InForce, bundle.Schemas.Resource)
	if err != nil {
		c.t.Fatal(err)
	}
	places := map[string][]rbac.Permission{}
	for _, p := range permissions {
		places[p.Namespace] = append(places[p.Namespace], p)
	}
	for namespace, list := range places {
		if namespace != "" {
			c.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}})
		}
		c.grant("derived-"+strings.Join(names, "-"), namespace, rbac.Rules(list))
	}
}

// TestDerivedRulesSuffice: a controller with the derived permissions, and no
// other, does all that the shipped policies want, and is never refused.
func TestDerivedRulesSuffice(t *testing.T) {
	t.Parallel()
	c := start(t, true)
	all := []string{eligibility, label, "replica-scheduling", nodeEntries, moduleHold, nodeModules, versionSteps, "configmap-restart"}
	c.grantDerived(policies, all...)
	k := preparedKernels(c, 1)
	c.put(module("kmod", "image:1"))
	c.put(group("vg-a", "k000", true))
	c.put(agent("agent-a", "k000", true))
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a")}))
	c.put(object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "config", "namespace": "shipshape", "labels": object{"app": "helloworld", "env": "a"}},
		"data": object{"a": "1"},
	})
	c.put(object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "web", "namespace": "shipshape", "labels": object{"app": "helloworld", "env": "a"}},
		"spec": object{"selector": object{"matchLabels": object{"a": "b"}}, "template": object{
			"metadata": object{"labels": object{"a": "b"}}, "spec": object{"containers": []any{object{"name": "c", "image": "i"}}},
		}},
	})
	edict := c.run(func(o *run.Options) { asLimited(o.Config) })
	edict.running(all...)
	c.wantEligible("pool", "k000+agent+vg-a")
	c.wantLabelled("k000")
	k.wantLoaded("the module is loaded", "kmod", map[string]string{"k000": "image:1"})
	c.delete("Module", "drivers", "kmod")
	eventually(t, "the module goes", func() string {
		if c.get("Module", "drivers", "kmod") != nil {
			return "it is held"
		}
		return ""
	})
	c.merge("ConfigMap", "shipshape", "config", "", object{"data": object{"a": "2"}})
	eventually(t, "the restart", func() string {
		u := c.get("Deployment", "shipshape", "web")
		if at, _, _ := unstructured.NestedString(u.Object, "spec", "template", "metadata", "annotations", "shipshape.io/restartedAt"); at == "" {
			return "there was none"
		}
		return ""
	})
	for _, word := range []string{"forbidden", "permissions are missing", "cannot be told"} {
		if log := edict.log.String(); strings.Contains(log, word) {
			t.Errorf("the log says %q", word)
		}
	}
}

// wantPath waits until a field has a value.
func (c *cluster) wantPath(kind, namespace, name, want string, path ...string) {
	c.t.Helper()
	eventually(c.t, fmt.Sprint(kind, " ", name, " ", path), func() string {
		u := c.get(kind, namespace, name)
		if u == nil {
			return "the object is gone"
		}
		got, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
		if fmt.Sprint(got) != want {
			return fmt.Sprintf("want %s, got %v", want, got)
		}
		return ""
	})
}

const waitingPolicies = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: allowed}
spec:
  for: {apiVersion: v1, kind: Node}
  rules: [{name: r, do: [{labels: {set: {example.com/allowed: ""}}}]}]
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: waits}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs: [{name: maps, apiVersion: v1, kind: ConfigMap, namespace: '"default"'}]
  rules: [{name: r, when: size(inputs.maps) >= 0, do: [{annotations: {set: {example.com/waits: ""}}}]}]
`

// TestAPolicyWaitsForItsPermissions: it says which are missing, holds nobody
// up, and starts when they are granted.
func TestAPolicyWaitsForItsPermissions(t *testing.T) {
	c := start(t, false)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "policies.yaml"), []byte(waitingPolicies), 0o600); err != nil {
		t.Fatal(err)
	}
	c.grant("nodes", "", rulesOf("nodes", "get", "list", "watch", "patch"))
	c.put(node("node-a", "z1", true, time.Now()))
	edict := c.run(func(o *run.Options) {
		o.Policies = []string{folder}
		asLimited(o.Config)
	})
	edict.running("allowed")
	c.wantPath("Node", "", "node-a", "map[example.com/allowed: topology.kubernetes.io/zone:z1]", "metadata", "labels")
	const reason = "permissions are missing: get, list, watch on configmaps in the namespace default; edict rbac PATH --policy waits prints the rules to grant"
	eventually(t, "the policy says what is missing", func() string {
		if log := edict.log.String(); !strings.Contains(log, `"the policy waits","policy":"waits","reason":"`+reason) {
			return log
		}
		return ""
	})
	if edict.metric("edict_policy_waiting", "waits") != 1 {
		t.Error("the metric does not say that the policy waits")
	}
	c.grant("maps", "default", rulesOf("configmaps", "get", "list", "watch"))
	edict.running("waits")
	c.wantPath("Node", "", "node-a", "map[example.com/waits:]", "metadata", "annotations")
	if strings.Count(edict.log.String(), `"the policy waits"`) != 1 {
		t.Error("it did not wait once")
	}
}

const copying = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: copies}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs: [{name: original, apiVersion: v1, kind: ConfigMap, get: '{"namespace": "default", "name": "original"}'}]
  rules:
    - name: copy
      when: inputs.original != null
      do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: copy}, data: {a: "${inputs.original.data.a}"}}}]
`

// TestNamedObjectsSuffice: who reads and writes objects of constant names needs
// to see no others.
func TestNamedObjectsSuffice(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "copying.yaml"), copying)
	c.grantDerived(folder, "copies")
	c.put(node("node-a", "z1", true, time.Now()))
	edict := c.run(func(o *run.Options) {
		o.Policies = []string{folder}
		asLimited(o.Config)
	})
	edict.running("copies")
	original := func(a string) object {
		return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "original", "namespace": "default"}, "data": object{"a": a}}
	}
	c.put(original("1"))
	c.wantPath("ConfigMap", "default", "copy", "1", "data", "a")
	c.merge("ConfigMap", "default", "original", "", object{"data": object{"a": "2"}})
	c.wantPath("ConfigMap", "default", "copy", "2", "data", "a")
	c.delete("ConfigMap", "default", "copy")
	c.wantPath("ConfigMap", "default", "copy", "2", "data", "a")
	if log := edict.log.String(); strings.Contains(log, "forbidden") || strings.Contains(log, "permissions are missing") {
		t.Error(log)
	}
}

const owning = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: owns}
spec:
  for: {apiVersion: v1, kind: ConfigMap, namespaces: [default], selector: own=yes}
  rules:
    - name: own
      do:
        - apply:
            apiVersion: v1
            kind: Secret
            metadata:
              namespace: default
              name: ${key.name}
              ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: "${key.name}", uid: "${object.metadata.uid}", blockOwnerDeletion: true}]
            stringData: {a: b}
---
apiVersion: edict.dev/v1alpha1
kind: Allowances
metadata: {name: test}
spec:
  allow: [{policy: owns, kind: Secret, fields: ["*"]}]
`

// TestBlockedOwners: where the API server asks for it, the derived permissions
// hold the one to block an owner's deletion.
func TestBlockedOwners(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false, "--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "owning.yaml"), []byte(owning), 0o600); err != nil {
		t.Fatal(err)
	}
	c.grantDerived(folder, "owns")
	owner := held("owner")
	owner["metadata"].(object)["labels"] = object{"own": "yes"}
	c.put(owner)
	edict := c.run(func(o *run.Options) {
		o.Policies = []string{folder}
		asLimited(o.Config)
	})
	edict.running("owns")
	secrets := c.client.Resource(kschema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("default")
	eventually(t, "the Secret", func() string {
		got, err := secrets.Get(t.Context(), "owner", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if len(got.GetOwnerReferences()) != 1 {
			return "it has no owner"
		}
		return ""
	})
	if log := edict.log.String(); strings.Contains(log, "forbidden") {
		t.Error("a write was refused")
	}
}

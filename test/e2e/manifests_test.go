package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/program"
)

// own is what the chart allows the controller in its own namespace, and its account.
const own = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: edict, namespace: edict-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: edict, namespace: edict-system}
rules:
  - {apiGroups: [edict.dev], resources: [policysets, policysets/status, policysets/finalizers], verbs: [get, list, watch, patch, update]}
  - {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}
  - {apiGroups: [apps], resources: [controllerrevisions], verbs: [get, list, watch, create, patch, delete]}
  - {apiGroups: [""], resources: [events], verbs: [create, patch, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: edict, namespace: edict-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: edict}
subjects: [{kind: ServiceAccount, name: edict, namespace: edict-system}]
`

// kubectl runs kubectl with something to read, and returns what it prints.
func (c *cluster) kubectl(in string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.plane.Kubectl(), append([]string{"--kubeconfig", c.plane.Kubeconfig()}, args...)...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestManifests: what edict manifests prints is all that a controller with the rights of the chart
// needs to run a policy.
func TestManifests(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.kubectl(own, "apply", "-f", "-")
	token := strings.TrimSpace(c.kubectl("", "create", "token", "edict", "-n", home))
	c.put(object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "web", "namespace": "default", "annotations": object{"example.com/endpoints": ""}}, "spec": object{"selector": object{"app": "web"}, "ports": []any{object{"port": 80}}}})
	c.fromSets(func(o *run.Options) {
		o.Config = rest.AnonymousClientConfig(o.Config)
		o.Config.BearerToken, o.PolicyServiceAccounts = token, identity.DefaultPrefix
	})
	text, code := offline(t, program.Build(t), "manifests", filepath.Join(root, "cmd", "edict", "testdata", "install", "endpoints"))
	if code != 0 {
		t.Fatalf("manifests end with %d:\n%s", code, text)
	}
	c.kubectl(text, "apply", "-f", "-")
	c.kubectl("", "wait", "policyset/endpoints", "-n", home, "--for=condition=Ready", "--timeout=2m")
	if c.wants("endpoints", "Ready", "True Shadow"); c.get("ConfigMap", "default", "web-endpoints") != nil {
		t.Error("it writes in Shadow mode")
	}
	c.patchSet("endpoints", object{"mode": "Enforce"})
	c.wants("endpoints", "Ready", "True Enforcing")
	eventually(t, "the ConfigMap", func() string {
		if c.get("ConfigMap", "default", "web-endpoints") == nil {
			return "is not there"
		}
		return ""
	})
}

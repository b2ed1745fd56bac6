package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// pem is a request for a certificate of system:node:n; it is only compared with its own
// signature.
const pem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHdU1HSUNBUUF3THpFVk1CTUdBMVVFQ2d3TWMzbHpkR1Z0T201dlpHVnpNUll3RkFZRFZRUUREQTF6ZVhOMApaVzA2Ym05a1pUcHVNQ293QlFZREsyVndBeUVBcTdRZ0U1SHpxcGc3ZXZYM1pmMFQwY1ZiYzlwT2hOT01wWVBVCkRUM3QraTZnQURBRkJnTXJaWEFEUVFDeUExWThpRXI1bGNEeXdCNTlwMlg0a1orOGZSN241cmhWMGRPdXI2ajQKc1dubi9JVXdOeUt4ZDRkRnRLTGozR3dHbmtqaGZBVm1oLzkxSStJRkRpZ0sKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="

var requests = kschema.GroupVersionResource{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"}

// request makes a request for a certificate as a user: the API server writes into it who
// that is.
func (c *cluster) request(name, user, signer string) {
	c.t.Helper()
	config := rest.CopyConfig(c.plane.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:nodes", "system:masters"}}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: object{
		"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": object{"name": name},
		"spec": object{"signerName": signer, "usages": []any{"client auth"}, "request": pem},
	}}
	if _, err := client.Resource(requests).Create(c.t.Context(), u, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// decided returns the conditions of a request, as TYPE: MESSAGE.
func (c *cluster) decided(name string) string {
	c.t.Helper()
	u, err := c.client.Resource(requests).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var out []string
	for _, raw := range list {
		condition, _ := raw.(object)
		kind, _ := condition["type"].(string)
		message, _ := condition["message"].(string)
		out = append(out, kind+": "+message)
	}
	return strings.Join(out, "; ")
}

// TestApprovals approves and denies requests with the derived permissions, and no other:
// the API server asks for those of the signer, too.
func TestApprovals(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	folder := filepath.Join(cookbook, "node-certificates")
	c.grantDerived(folder, "node-certificates")
	c.put(object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "n"}})
	c.request("known", "system:node:n", "example.com/node-agent")
	c.request("unknown", "system:node:m", "example.com/node-agent")
	c.request("user", "jane", "example.com/node-agent")
	c.request("other", "system:node:n", "example.com/other")
	edict := c.run(func(o *run.Options) {
		o.Policies = []string{folder}
		asLimited(o.Config)
	})
	edict.running("node-certificates")
	want := func(name, want string) {
		t.Helper()
		eventually(t, "the request "+name, func() string {
			if got := c.decided(name); got != want {
				return "it is " + got
			}
			return ""
		})
	}
	want("known", "Approved: the Node n exists")
	want("user", "Denied: the user is no Node")
	want("unknown", "")
	c.put(object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "m"}})
	want("unknown", "Approved: the Node m exists")
	want("other", "")
	if log := edict.log.String(); strings.Contains(log, "forbidden") || strings.Contains(log, "permissions are missing") {
		t.Error(log)
	}
}

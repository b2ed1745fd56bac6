package chart

import (
	"encoding/json"
	"os"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/extender"
)

const otherName = "policy-engine"

// TestCertificateOfOthers installs the chart under another name, with one
// process, monitoring, and a certificate that cert-manager would make; an edit
// is refused when the webhook does not answer.
func TestCertificateOfOthers(t *testing.T) {
	controlplane.RequireLong(t)
	i := newInstallation(t, otherName+"-webhook")
	for _, file := range publishedCRDs(t) {
		if err := i.plane.InstallCRDs(t.Context(), file); err != nil {
			t.Fatal(err)
		}
	}
	authority := i.certificate()
	i.deploy("install", "fullnameOverride="+otherName, "replicas=1", "webhook.certManager.enabled=true", "webhook.failurePolicy=Fail",
		"webhook.url=https://127.0.0.1:"+i.port+"/validate", "metrics.serviceMonitor.enabled=true", "metrics.prometheusRule.enabled=true")
	i.inject(authority)
	i.wantReady("agent-node-label", "Enforcing", "")
	i.wantTextRefused(otherName + "-agent-node-label")
	installed := objects(t, i.helm("get", "manifest", release))
	i.helm("uninstall", release, "--wait", "--timeout", "2m")
	i.wantNothing(installed)
}

// certificate does what cert-manager does for the chart's Certificate, and returns
// the authority's.
func (i *installation) certificate() []byte {
	i.t.Helper()
	files, err := extender.GenerateCertificates(i.t.TempDir())
	if err != nil {
		i.t.Fatal(err)
	}
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			i.t.Fatal(err)
		}
		return text
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: otherName + "-webhook-tls"},
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{"tls.crt": read(files.ServerCert), "tls.key": read(files.ServerKey)},
	}
	if _, err := i.client.CoreV1().Secrets(namespace).Create(i.t.Context(), secret, metav1.CreateOptions{}); err != nil {
		i.t.Fatal(err)
	}
	return read(files.CA)
}

// inject does what cert-manager does for the annotation of the webhook.
func (i *installation) inject(authority []byte) {
	i.t.Helper()
	api := i.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	found, err := api.Get(i.t.Context(), namespace+"-"+otherName, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	if from := found.Annotations["cert-manager.io/inject-ca-from"]; from != namespace+"/"+otherName+"-webhook" {
		i.t.Errorf("the authority is to come from %q", from)
	}
	for n := range found.Webhooks {
		found.Webhooks[n].ClientConfig.CABundle = authority
	}
	body, err := json.Marshal(map[string][]admissionv1.ValidatingWebhook{"webhooks": found.Webhooks})
	if err != nil {
		i.t.Fatal(err)
	}
	if _, err := api.Patch(i.t.Context(), namespace+"-"+otherName, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		i.t.Fatal(err)
	}
}

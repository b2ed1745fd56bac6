package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	admission "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/run/webhook"
)

// freePort returns a port of the loopback that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

// webhookConfiguration registers the webhook as the chart does.
func webhookConfiguration(port string) *admissionv1.ValidatingWebhookConfiguration {
	url := "https://localhost:" + port + webhook.Path
	one := func(group, resource string) admissionv1.ValidatingWebhook {
		ignore, none, timeout := admissionv1.Ignore, admissionv1.SideEffectClassNoneOnDryRun, int32(5)
		versions := []string{"v1"}
		if group != "" {
			versions = []string{"v1alpha1"}
		}
		return admissionv1.ValidatingWebhook{
			Name: resource + ".edict.dev", FailurePolicy: &ignore, SideEffects: &none, TimeoutSeconds: &timeout, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionv1.WebhookClientConfig{URL: &url},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": home}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete},
				Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: versions, Resources: []string{resource}},
			}},
		}
	}
	return &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "edict"}, Webhooks: []admissionv1.ValidatingWebhook{one("", "configmaps"), one("edict.dev", "policysets")}}
}

func typedMap(o object) *corev1.ConfigMap {
	metadata, _ := o["metadata"].(object)
	out := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(metadata["name"]), Namespace: home}, Data: map[string]string{}}
	if data, ok := o["data"].(object); ok {
		for k, v := range data {
			out.Data[k] = fmt.Sprint(v)
		}
	}
	return out
}

// heard keeps the warnings of the API server.
type heard struct{ texts []string }

// HandleWarningHeader implements rest.WarningHandler.
func (h *heard) HandleWarningHeader(_ int, _, text string) { h.texts = append(h.texts, text) }

// store writes a ConfigMap whole, and returns what the API server says.
func store(ctx context.Context, client kubernetes.Interface, o object) error {
	m := typedMap(o)
	_, err := client.CoreV1().ConfigMaps(home).Update(ctx, m, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.CoreV1().ConfigMaps(home).Create(ctx, m, metav1.CreateOptions{})
	}
	return err
}

// strangerAsks has a policy reviewed without a client certificate, and returns the answer.
func strangerAsks(t *testing.T, port, policy string) string {
	t.Helper()
	m := typedMap(textOf("copies", map[string]string{"copies.yaml": policy}))
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(admission.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request:  &admission.AdmissionRequest{UID: "u", Name: "copies", Namespace: home, Kind: metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Operation: admission.Create, Object: runtime.RawExtension{Raw: raw}},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://localhost:"+port+webhook.Path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// TestWebhook: a bad edit is refused at once, with the place and how to mend
// it; what is not concerned passes, and so does everything while nobody serves.
func TestWebhook(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	client, err := kubernetes.NewForConfig(c.plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	warned := &heard{}
	config := rest.CopyConfig(c.plane.Config())
	config.WarningHandler = warned
	warning, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), webhookConfiguration(port), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "stale", "copies"} {
		c.put(set(name))
	}
	good := marks("one", "one", "a")
	bad := strings.Replace(good, "params.value", "params.valeu", 1)
	if err := store(t.Context(), client, textOf("stale", map[string]string{"old.yaml": strings.ReplaceAll(bad, "name: one", "name: old"), "well.yaml": marks("well", "well", "a")})); err != nil {
		t.Fatalf("nobody serves the webhook, and it stands in the way: %v", err)
	}
	edict := c.fromSets(func(o *run.Options) {
		o.Webhook = &webhook.Config{Address: "127.0.0.1:" + port, CertSecret: "edict-webhook", Configuration: "edict", DNSNames: []string{"localhost"}}
	})
	eventually(t, "a bad policy is refused", func() string {
		err := store(t.Context(), client, textOf("one", map[string]string{"one.yaml": bad}))
		if err == nil {
			if err := client.CoreV1().ConfigMaps(home).Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			return "it is stored"
		}
		for _, want := range []string{"one.yaml:12:", "error: ", "params.valeu", "^"} {
			if !strings.Contains(err.Error(), want) {
				t.Fatalf("the refusal lacks %q:\n%v", want, err)
			}
		}
		return ""
	})
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	refused := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || apierrors.IsInvalid(err) {
			t.Errorf("%s: %v, want %q, and not the reason Invalid", what, err, want)
		}
	}
	must("a good policy", store(t.Context(), client, textOf("one", map[string]string{"one.yaml": good})))
	c.wants("one", "Ready", "True Enforcing")
	c.wantEvent("TextWritten")
	eventually(t, "the user in the history", func() string {
		list, err := client.AppsV1().ControllerRevisions(home).List(t.Context(), metav1.ListOptions{LabelSelector: "edict.dev/policyset=one"})
		must("the history", err)
		for i := range list.Items {
			if user := list.Items[i].Annotations["edict.dev/user"]; user == "" {
				return fmt.Sprintf("%s has none", list.Items[i].Name)
			}
		}
		return ""
	})
	refused("a bad edit", "one.yaml:12:", store(t.Context(), client, textOf("one", map[string]string{"one.yaml": bad})))
	c.wantEditorAgain("one", "s/params.value/params.valeu/", "s/params.valeu/params.value/; s/what the label says/what it says/")
	must("a ConfigMap that no set has", store(t.Context(), client, object{"metadata": object{"name": "other"}, "data": object{"one.yaml": bad}}))
	params := func(values object) string {
		t.Helper()
		warned.texts = nil
		body, err := json.Marshal(object{"spec": object{"params": object{"one": values}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := warning.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath("/apis/edict.dev/v1alpha1/namespaces", home, "policysets", "one").Body(body).Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
		return strings.Join(warned.texts, "\n")
	}
	if text := params(object{"valeu": "b"}); !strings.Contains(text, `the policy one has no param "valeu"`) {
		t.Errorf("a param that is not there: the warnings are %q", text)
	}
	if text := params(object{"valeu": nil, "value": "b"}); text != "" {
		t.Errorf("a param: the warnings are %q", text)
	}
	must("mending one mistake of two", store(t.Context(), client, textOf("stale", map[string]string{"old.yaml": strings.ReplaceAll(bad, "name: one", "name: old"), "well.yaml": marks("well", "well", "b")})))
	refused("making it worse", "well.yaml:12:", store(t.Context(), client, textOf("stale", map[string]string{"old.yaml": strings.ReplaceAll(bad, "name: one", "name: old"), "well.yaml": strings.ReplaceAll(bad, "name: one", "name: well")})))
	c.put(node("team", "z", true, time.Now()))
	c.merge("Node", "", "team", "", labelsOf(object{"team": "x"}))
	c.put(node("none", "z", true, time.Now()))
	must("a policy that copies", store(t.Context(), client, textOf("copies", map[string]string{"copies.yaml": copies("copies", "one")})))
	c.wants("copies", "Ready", "True Enforcing")
	if answer := strangerAsks(t, port, copies("copies", "team")); strings.Contains(answer, "none") || !strings.Contains(answer, `"allowed":true`) {
		t.Errorf("a client without a certificate learns what objects there are: %s", answer)
	}
	warned.texts = nil
	must("an edit that fails for a node", store(t.Context(), warning, textOf("copies", map[string]string{"copies.yaml": copies("copies", "team")})))
	if len(warned.texts) > 0 {
		t.Errorf("the warnings are %q", warned.texts)
	}
	c.wants("copies", "Ready", "False", "it fails for Node none")
	warned.texts = nil
	must("taking away what copies", warning.CoreV1().ConfigMaps(home).Delete(t.Context(), "copies", metav1.DeleteOptions{}))
	if len(warned.texts) != 1 || !strings.HasPrefix(warned.texts[0], "the set copies continues with the last good text") {
		t.Errorf("the warnings are %q", warned.texts)
	}

	must("the certificate's Secret goes", client.CoreV1().Secrets(home).Delete(t.Context(), "edict-webhook", metav1.DeleteOptions{}))
	eventually(t, "the certificate's Secret comes back", func() string {
		secret, err := client.CoreV1().Secrets(home).Get(t.Context(), "edict-webhook", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		hook, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "edict", metav1.GetOptions{})
		if err != nil || !bytes.Equal(hook.Webhooks[0].ClientConfig.CABundle, secret.Data["tls.crt"]) {
			return "the webhook configuration has another authority"
		}
		if err := store(t.Context(), client, textOf("one", map[string]string{"one.yaml": bad})); err == nil || !strings.Contains(err.Error(), "one.yaml:12:") {
			must("mending it", store(t.Context(), client, textOf("one", map[string]string{"one.yaml": good})))
			return "nobody refuses a bad edit"
		}
		return ""
	})
	for line := range strings.Lines(edict.log.String()) {
		if strings.Contains(line, `"level":"ERROR"`) && strings.Contains(line, "modified") {
			t.Errorf("a conflict is an error: %s", line)
		}
	}

	edict.stop()
	must("a bad edit while nobody serves", store(t.Context(), client, textOf("one", map[string]string{"one.yaml": bad})))
	c.fromSets(nil)
	c.wants("one", "Ready", "False", "one.yaml:12:")
}

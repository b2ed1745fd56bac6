package chart

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/test/controlplane"
)

// asked is a webhook that allows everything, and notes what it is asked.
type asked struct {
	lock sync.Mutex
	list []string
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request := review.Request
	a.lock.Lock()
	a.list = append(a.list, fmt.Sprintf("%s %s %s/%s", request.Operation, request.Kind.Kind, request.Namespace, request.Name))
	a.lock.Unlock()
	review.Response, review.Request = &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}, nil
	_ = json.NewEncoder(w).Encode(review)
}

// take returns what was asked since the last time; the API server may ask again when it has read
// an object that was out of date.
func (a *asked) take() []string {
	a.lock.Lock()
	defer a.lock.Unlock()
	list := slices.Compact(a.list)
	a.list = nil
	return list
}

// TestWhatTheWebhookIsAsked: it hears of texts and sets of its namespace, and of nothing that
// changes neither.
func TestWhatTheWebhookIsAsked(t *testing.T) {
	i := &installation{cluster: startCluster(t, controlplane.Options{ControllerManager: true})}
	i.namespace(namespace)
	i.helm("install", release, chart)
	webhook := &asked{}
	server := httptest.NewTLSServer(webhook)
	t.Cleanup(server.Close)
	i.direct(server)

	maps := i.client.CoreV1().ConfigMaps(namespace)
	patch := func(name, text string) {
		t.Helper()
		i.must(maps.Patch(t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{}))
	}
	i.eventually("the webhook", func(context.Context) string {
		patch(release+"-agent-node-label", `{"data":{"x.rego":"`+fmt.Sprint(time.Now().UnixNano())+`"}}`)
		if len(webhook.take()) == 0 {
			return "it is not asked"
		}
		return ""
	})
	for _, step := range []struct {
		what string
		do   func()
		want []string
	}{
		{"another text", func() { patch(release+"-agent-node-label", `{"data":{"x.rego":"b"}}`) }, []string{"UPDATE ConfigMap edict-system/edict-agent-node-label"}},
		{"a binary text", func() { patch(release+"-agent-node-label", `{"binaryData":{"b":"YQ=="}}`) }, []string{"UPDATE ConfigMap edict-system/edict-agent-node-label"}},
		{"a label of a text", func() { patch(release+"-agent-node-label", `{"metadata":{"labels":{"a":"b"}}}`) }, nil},
		{"the certificate of the cluster", func() { patch("kube-root-ca.crt", `{"data":{"a":"b"}}`) }, nil},
		{"a new text", func() {
			i.must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{}))
		}, []string{"CREATE ConfigMap edict-system/mine"}},
		{"no text any more", func() { i.must(nil, maps.Delete(t.Context(), "mine", metav1.DeleteOptions{})) }, []string{"DELETE ConfigMap edict-system/mine"}},
		{"a text elsewhere", func() {
			i.must(i.client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{}))
		}, nil},
		{"a set", func() {
			i.must(i.sets("", namespace).Create(t.Context(), guarded(t, "mine", "mode: Shadow"), metav1.CreateOptions{}))
		}, []string{"CREATE PolicySet edict-system/mine"}},
		{"a set is suspended", func() { i.editSet("mine", `{"suspend":true}`) }, []string{"UPDATE PolicySet edict-system/mine"}},
		{"the status of a set", func() {
			i.must(i.sets("", namespace).Patch(t.Context(), "mine", types.MergePatchType, []byte(`{"status":{"objects":1}}`), metav1.PatchOptions{}, "status"))
		}, nil},
		{"a finalizer of the controller", func() {
			i.must(i.sets(controller, namespace).Patch(t.Context(), "mine", types.MergePatchType, []byte(`{"metadata":{"finalizers":[]}}`), metav1.PatchOptions{}))
		}, nil},
		{"a dry run", func() { i.must(nil, i.remove("", "mine")) }, []string{"DELETE PolicySet edict-system/mine"}},
	} {
		step.do()
		if diff := cmp.Diff(step.want, webhook.take()); diff != "" {
			t.Errorf("%s (- want, + asked):\n%s", step.what, diff)
		}
	}

	// Nobody answers: what never stands in the way does not.
	server.Close()
	i.editSet("mine", `{"suspend":false}`)
	i.must(nil, maps.Delete(t.Context(), release+"-agent-node-label", metav1.DeleteOptions{}))
}

// direct lets the webhooks of the release ask a server.
func (i *installation) direct(server *httptest.Server) {
	i.t.Helper()
	api := i.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	found, err := api.Get(i.t.Context(), namespace+"-"+release, metav1.GetOptions{})
	i.must(nil, err)
	for n := range found.Webhooks {
		found.Webhooks[n].ClientConfig = registrationv1.WebhookClientConfig{
			URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		}
	}
	i.must(api.Update(i.t.Context(), found, metav1.UpdateOptions{}))
}

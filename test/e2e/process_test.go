package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// address returns a free address on this machine.
func address(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func fetch(ctx context.Context, url string) (int, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

// TestTheProcess looks at a controller from outside: its endpoints, its log,
// and that a stop leaves nothing behind.
func TestTheProcess(t *testing.T) {
	c := start(t, true)
	c.put(node("node-a", "z1", true, time.Now().Add(-time.Hour)))
	c.put(group("vg-a", "node-a", true))
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a")}))
	before := goleak.IgnoreCurrent()
	metrics, probes := address(t), address(t)
	edict := c.run(func(o *run.Options) { o.MetricsAddress, o.ProbeAddress = metrics, probes })
	edict.running(eligibility, label)
	c.wantEligible("pool", "node-a+vg-a")
	for _, path := range []string{"/healthz", "/readyz"} {
		eventually(t, path, func() string { // there are more policies
			if code, body := fetch(t.Context(), "http://"+probes+path); code != http.StatusOK || body != "ok\n" {
				return fmt.Sprintf("%d %q", code, body)
			}
			return ""
		})
	}
	_, text := fetch(t.Context(), "http://"+metrics+"/metrics")
	for _, series := range []string{
		`edict_evaluations_total{policy="` + eligibility + `",policyset="",revision="`, `edict_effects_total{policy="` + eligibility + `",policyset="",result="written",revision="`,
		`edict_policy_waiting{policy="` + label + `",policyset=""} 0`, `edict_evaluation_seconds_bucket`,
	} {
		if !strings.Contains(text, series) {
			t.Errorf("/metrics has no %s", series)
		}
	}
	if strings.Contains(text, `"pool"`) || strings.Contains(text, "node-a") {
		t.Error("/metrics names objects")
	}
	for _, want := range []string{`"msg":"wrote","policy":"` + eligibility + `","revision":"`, `"key":"pool","rule":`} {
		if !strings.Contains(edict.log.String(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}
	edict.stop()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(before); err != nil {
		t.Errorf("a stop leaves goroutines behind: %v", err)
	}
}

// TestABadPolicyHurtsNobody starts with one policy that does not fit the
// cluster's schemas: it is refused with its place, the others run.
func TestABadPolicyHurtsNobody(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	c.put(node("node-a", "z1", true, time.Now().Add(-time.Hour)))
	folder := t.TempDir()
	write(t, folder+"/bad.yaml", `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: bad}
spec:
  for: {apiVersion: storage.deckhouse.io/v1alpha1, kind: ReplicatedStoragePool}
  rules:
    - name: misspelt
      when: object.spec.typ == "LVM"
      do: [{labels: {set: {a: b}}}]
`)
	edict := c.run(func(o *run.Options) { o.Policies = []string{folder + "/bad.yaml", policies} })
	edict.running(eligibility, label)
	eventually(t, "the bad policy", func() string {
		log := edict.log.String()
		if !strings.Contains(log, "bad.yaml:9:") || !strings.Contains(log, `no field \"typ\" here`) {
			return "is not reported with its place"
		}
		return ""
	})
	if edict.metric("edict_policy_info", "bad") != 0 {
		t.Error("the bad policy runs")
	}
}

// TestSecuredMetrics: metrics are for those whom the API server allows to get
// them, and show the process as well.
func TestSecuredMetrics(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	metrics, probes := address(t), address(t)
	edict := c.fromSets(func(o *run.Options) { o.MetricsAddress, o.ProbeAddress, o.MetricsSecure = metrics, probes, true })
	client, err := kubernetes.NewForConfig(c.plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	token := func(name string) string {
		t.Helper()
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().ServiceAccounts(home).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := client.CoreV1().ServiceAccounts(home).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Status.Token
	}
	reader, stranger := token("reader"), token("stranger")
	c.make(clusterRoles, object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": object{"name": "reader"},
		"rules": []any{object{"nonResourceURLs": []any{"/metrics", "/shadowz", live.Path, live.CapturePath, live.AnswersPath}, "verbs": []any{"get"}}},
	})
	c.make(kschema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}, object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": object{"name": "reader"},
		"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
		"subjects": []any{object{"kind": "ServiceAccount", "name": "reader", "namespace": home}},
	})
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer browser.CloseIdleConnections()
	get := func(url, token string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := browser.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	const nothing = "?policy=none&name=x" // what is not there is said only to those who may ask
	for path, allowed := range map[string]int{"/metrics": http.StatusOK, "/shadowz": http.StatusOK, live.Path + nothing: http.StatusNotFound, live.CapturePath + nothing: http.StatusNotFound, live.AnswersPath: http.StatusOK} {
		for who, want := range map[string]int{"": http.StatusUnauthorized, "nonsense": http.StatusInternalServerError /* as the library has it */, stranger: http.StatusForbidden, reader: allowed} {
			eventually(t, path, func() string {
				if code, body := get("https://"+metrics+path, who); code != want {
					return fmt.Sprintf("%d %s, want %d", code, body, want)
				}
				return ""
			})
		}
	}
	_, text := get("https://"+metrics+"/metrics", reader)
	for _, series := range []string{"go_goroutines ", "process_resident_memory_bytes ", "rest_client_requests_total{", "edict_leader "} {
		if !strings.Contains(text, "\n"+series) {
			t.Errorf("/metrics has no %s", series)
		}
	}
	if code, _ := fetch(t.Context(), "http://"+probes+"/healthz"); code != http.StatusOK {
		t.Errorf("the probes answer %d", code)
	}
	for _, path := range []string{"/shadowz", live.Path, live.CapturePath, live.AnswersPath} {
		if code, _ := fetch(t.Context(), "http://"+probes+path); code != http.StatusNotFound {
			t.Errorf("what is secured can be had from the probes at %s: %d", path, code)
		}
	}
	edict.stop()
}

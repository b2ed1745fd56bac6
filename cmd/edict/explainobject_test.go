package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// objectServer serves a Deployment that a policy has written, and the Pods of a controller.
func objectServer(w http.ResponseWriter, r *http.Request) {
	answers := map[string]string{
		"/api":    `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/api/v1": `{"kind": "APIResourceList", "groupVersion": "v1", "resources": []}`,
		"/apis":   `{"kind": "APIGroupList", "groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}]}]}`,
		"/apis/apps/v1": `{"kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [
			{"name": "deployments", "singularName": "deployment", "shortNames": ["deploy"], "kind": "Deployment", "namespaced": true, "verbs": ["get", "list"]}]}`,
		"/apis/apps/v1/namespaces/shop/deployments/web": `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "web", "namespace": "shop", "managedFields": [
			{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
			{"manager": "edict/configmap-restart", "operation": "Update", "time": "2026-11-27T03:00:00Z", "fieldsV1": {"f:spec": {"f:template": {"f:metadata": {"f:annotations": {"f:restarted": {}}}}}}}]}}`,
		"/api/v1/namespaces/edict-system/pods": `{"kind": "PodList", "apiVersion": "v1", "items": [
			{"metadata": {"name": "other"}, "status": {"containerStatuses": [{"name": "x"}]}},
			{"metadata": {"name": "edict-1"}, "status": {"containerStatuses": [{"name": "edict", "restartCount": 3}]}}]}`,
	}
	if r.URL.Path == "/api/v1/namespaces/edict-system/pods/edict-1/log" {
		at := "04"
		if r.URL.Query().Get("previous") == "true" {
			at = "03"
		}
		_, _ = w.Write([]byte(`{"msg":"wrote more than is logged one by one","policy":"configmap-restart","writes":70}` + "\n" + `{"msg":"wrote more than is logged one by one","policy":"other","writes":5}` + "\n"))
		for _, name := range []string{"web", "another"} {
			_, _ = w.Write([]byte(`{"time":"2026-11-27T` + at + `:00:00Z","level":"INFO","msg":"wrote","reconcileID":"r-` + at + `","policy":"configmap-restart","key":"shop/web-config","rule":"restart on change","verb":"patch",` +
				`"target":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"` + name + `"},"wokenBy":[{"reason":"changed","object":{"apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"web-config"}}]}` + "\n"))
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/decisions/writes" && r.URL.RawQuery == "apiVersion=apps%2Fv1&kind=Deployment&name=web&namespace=shop" {
		answers[r.URL.Path] = `{"since": "2026-11-27T01:00:00Z", "writes": [
			{"time": "2026-11-27T04:00:00Z", "reconcileID": "r-04", "policy": "configmap-restart", "key": "shop/web-config", "rule": "restart on change", "verb": "patch", "fields": ["spec.template"], "wokenBy": [{"reason": "retry"}]},
			{"time": "2026-11-27T02:00:00Z", "reconcileID": "r-02", "policy": "scale", "key": "shop/db", "rule": "up", "verb": "patch", "fields": ["spec.replicas"], "wokenBy": [{"reason": "start"}]}]}`
	}
	text, ok := answers[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		text = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`
	}
	_, _ = w.Write([]byte(text))
}

// TestExplainObject: an object of the cluster leads to the policies that wrote it, and to the
// keys for which they did.
func TestExplainObject(t *testing.T) {
	kubeconfig := serving(t, http.HandlerFunc(objectServer))
	const want = `Deployment shop/web was written by:
  configmap-restart  2026-11-27T03:00:00Z  spec.template.metadata.annotations.restarted
Writes:
  2026-11-27T04:00:00Z  configmap-restart  restart on change  for shop/web-config  retry                              spec.template
  2026-11-27T03:00:00Z  configmap-restart  restart on change  for shop/web-config  changed ConfigMap shop/web-config
  2026-11-27T02:00:00Z  scale              up                 for shop/db          start                              spec.replicas
The log leaves out 140 writes of configmap-restart: the controller that leads keeps its decisions since 2026-11-27T01:00:00Z
Run next, where KEY is the object that the policy decides about:
  edict explain configmap-restart shop/web-config --last-write
  edict explain scale shop/db --last-write
`
	address := httptest.NewServer(http.HandlerFunc(objectServer))
	defer address.Close()
	for _, name := range []string{"deployment/web", "deploy/web", "Deployment/web", "deployments.apps/web"} {
		got := program(t, "explain", name, "-n", "shop", "--kubeconfig", kubeconfig, "--address", address.URL)
		if diff := cmp.Diff(want, got.stdout); diff != "" || got.code != 0 {
			t.Errorf("%s: exit code %d, %s (-want +got):\n%s", name, got.code, got.stderr, diff)
		}
	}
	log := filepath.Join(t.TempDir(), "pods.log")
	if err := os.WriteFile(log, []byte(`{"msg":"wrote more than is logged one by one","policy":"configmap-restart","writes":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no log: the policy is known":  {[]string{"deploy/web", "-n", "shop", "--log", "/none"}, 0, "edict explain configmap-restart KEY"},
		"a log that leaves writes out": {[]string{"deploy/web", "-n", "shop", "--log", log}, 0, "The log leaves out 7 writes of configmap-restart: ask the controller that leads, edict explain deploy/web -n shop\n"},
		"and names no policy":          {[]string{"deploy/gone", "-n", "shop", "--log", log}, exitFindings, "the log names no policy; the log leaves out writes of configmap-restart: ask the controller that leads, edict explain deploy/gone -n shop"},
		"no controller leads":          {[]string{"deploy/web", "-n", "shop"}, 0, "edict: the decisions of the controller that leads cannot be read: "},
		"nobody wrote it":              {[]string{"deploy/gone", "-n", "shop"}, exitFindings, "Deployment deploy/gone does not exist, or not in the namespace shop (-n), and the log names no policy"},
		"an unknown type":              {[]string{"thing/web"}, exitFindings, `the cluster does not serve the type "thing" of thing/web`},
		"no type":                      {[]string{"web"}, exitUsage, "is not TYPE/NAME"},
		"of files":                     {[]string{"deploy/web", "--policies", "x"}, exitUsage, "is looked up in a cluster"},
	} {
		got := program(t, append([]string{"explain", "--kubeconfig", kubeconfig}, test.args...)...)
		if got.code != test.code || !strings.Contains(got.stdout+got.stderr, test.want) {
			t.Errorf("%s: exit code %d, %s%s", name, got.code, got.stdout, got.stderr)
		}
	}
}

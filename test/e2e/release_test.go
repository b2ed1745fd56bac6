package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/edict-dev/edict/engine/release"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

// holding sets two finalizers: a param's, and a computed one.
const holding = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: holds}
spec:
  params: {finalizer: example.com/default}
  for: {apiVersion: v1, kind: ConfigMap, namespaces: [default], selector: hold=yes}
  rules:
    - name: hold
      when: "!has(object.metadata.deletionTimestamp)"
      do: [{finalizer: {name: "${params.finalizer}"}}]
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: computes}
spec:
  for: {apiVersion: v1, kind: ConfigMap, namespaces: [default], selector: hold=yes}
  inputs: [{name: gone, apiVersion: example.com/v1, kind: Gone, when: "false"}]
  rules:
    - name: hold
      when: "!has(object.metadata.deletionTimestamp)"
      do: [{finalizer: {name: "${key.name}.example.com/computed"}}]
    - name: hold what is not there
      forEach: inputs.gone
      do: [{finalizer: {of: item, name: example.com/gone}}]
`

func held(name string, finalizers ...any) object {
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{
		"name": name, "namespace": "default", "labels": object{"hold": "yes"}, "finalizers": finalizers,
	}}
}

func (c *cluster) wantFinalizers(name string, want ...string) {
	c.t.Helper()
	slices.Sort(want)
	eventually(c.t, "the finalizers of "+name, func() string {
		got := slices.Sorted(slices.Values(c.get("ConfigMap", "default", name).GetFinalizers()))
		return cmp.Diff(fmt.Sprint(want), fmt.Sprint(got))
	})
}

// TestRelease stops policies that run from ConfigMaps, and removes exactly
// their finalizers.
func TestRelease(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	allow := []any{
		object{"policy": "holds", "apiGroup": "", "kind": "ConfigMap", "fields": []any{"metadata.finalizers"}},
		object{"policy": "computes", "apiGroup": "", "kind": "ConfigMap", "fields": []any{"metadata.finalizers"}},
	}
	c.putSet("holding", map[string]string{"holding.yaml": holding}, object{"allow": allow, "params": object{"holds": object{"finalizer": "example.com/held"}}})
	c.put(held("one", "foreign.example.com/stays"))
	c.put(held("two"))
	c.fromSets(nil)
	foreign := "foreign.example.com/stays"
	c.wantFinalizers("one", foreign, "example.com/held", "one.example.com/computed")
	c.wantFinalizers("two", "example.com/held", "two.example.com/computed")
	binary := program.Build(t)

	out, code := c.edict(binary, "params", "-n", home, "holds")
	if want := "holding/holds  finalizer  string  example.com/held  edict-system/holding  example.com/default\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("params end with %d and lack %q:\n%s", code, want, out)
	}
	out, code = c.edict(binary, "rbac", "-n", home, "-o", "table")
	if want := "default    core   configmaps  *      get,list,watch,patch  holding/computes, holding/holds\n"; code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("rbac ends with %d and lacks %q:\n%s", code, want, out)
	}
	out, code = c.edict(binary, "release", "-n", home, "holding/holds", "--dry-run")
	want := "holding/holds: ConfigMap default/one: would be released from example.com/held\nholding/holds: ConfigMap default/two: would be released from example.com/held\n2 objects to release, 0 failed\n"
	if code != 0 || out != want {
		t.Errorf("the dry run ends with %d:\n%s", code, cmp.Diff(want, out))
	}
	out, code = c.edict(binary, "release", "-n", home, "--all")
	want = "4 objects released, 0 failed\n"
	if code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("all policies end with %d:\n%s", code, out)
	}
	c.wants("holding", "Ready", "True Disabled")
	c.put(held("three")) // nobody is there to hold it
	out, code = c.edict(binary, "release", "-n", home, "--all")
	if code != 0 || out != "0 objects released, 0 failed\n" {
		t.Errorf("a second time ends with %d:\n%s", code, out)
	}
	c.wantFinalizers("one", foreign)
	c.wantFinalizers("two")
	c.wantFinalizers("three")
}

// TestReleaseWithoutAController: policies in files, and a ConfigMap whose
// controller no longer answers, are released all the same.
func TestReleaseWithoutAController(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	binary, folder := program.Build(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "holding.yaml"), []byte(holding), 0o600); err != nil {
		t.Fatal(err)
	}
	c.put(held("one", "foreign.example.com/stays", "example.com/default"))
	out, code := c.edict(binary, "release", "--policies", folder, "--all")
	if want := "holds: ConfigMap default/one: released from example.com/default\n1 object released, 0 failed\n"; code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("it ends with %d:\n%s", code, out)
	}
	c.putSet("holding", map[string]string{"holding.yaml": holding})
	c.merge("ConfigMap", "default", "one", "", object{"metadata": object{"finalizers": []any{"example.com/default"}}})
	begin := time.Now()
	out, code = c.edict(binary, "release", "-n", home, "holding/holds", "--timeout", "300ms")
	if want := "no controller has said within 300ms that it stopped the sets holding; going on, finalizers may come back\nholding/holds: ConfigMap default/one: released from example.com/default\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("it ends with %d after %v:\n%s", code, time.Since(begin), out)
	}
}

// TestReleaseIsRefused: what cannot be listed or patched is named.
func TestReleaseIsRefused(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "holding.yaml"), []byte(holding), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := source.Load([]string{folder}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.put(held("one", "example.com/default"))
	var got []release.Outcome
	config := c.plane.Config()
	asLimited(config)
	r := newReleaser(t, config, &got)
	r.Policies(t.Context(), bundle.Policies)
	if len(got) != 2 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "listing: configmaps is forbidden") || got[0].Object.Name != "" {
		t.Errorf("without any permission: %+v", got)
	}
	c.grant("read", "default", rulesOf("configmaps", "list", "get"))
	eventually(t, "the permission to list", func() string { // the API server hears of roles a moment later
		got = nil
		r.Policies(t.Context(), bundle.Policies)
		if len(got) > 1 {
			return fmt.Sprintf("%+v", got)
		}
		return ""
	})
	if len(got) != 1 || got[0].Err == nil || got[0].Object.Name != "one" || !strings.Contains(got[0].Err.Error(), "cannot patch") {
		t.Errorf("with the permission to list: %+v", got)
	}
	c.wantFinalizers("one", "example.com/default")
}

func newReleaser(t *testing.T, config *rest.Config, into *[]release.Outcome) *release.Releaser {
	t.Helper()
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := metadata.NewForConfigAndClient(config, http)
	if err != nil {
		t.Fatal(err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, http)
	if err != nil {
		t.Fatal(err)
	}
	return &release.Releaser{Client: client, Mapper: mapper, Report: func(o release.Outcome) { *into = append(*into, o) }}
}

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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

// TestDeletion: a set that is deleted stays until the objects have none of its finalizers, also over a
// restart and without its text.
func TestDeletion(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.putHolding()
	c.put(held("one", "foreign.example.com/stays"))
	c.put(held("two"))
	first := c.fromSets(nil)
	foreign := "foreign.example.com/stays"
	c.wantFinalizers("one", foreign, "example.com/held", "one.example.com/computed")
	c.wantFinalizers("two", "example.com/held", "two.example.com/computed")
	eventually(t, "the count of the finalizers", func() string {
		const want = "/ConfigMap default * 2; /ConfigMap default example.com/held 2; example.com/Gone  example.com/gone 0; "
		got := ""
		for _, f := range c.statusOf("holding").Finalizers {
			got += fmt.Sprintf("%s/%s %s %s %d; ", *f.APIGroup, f.Kind, f.Namespace, f.Name, *f.Count)
		}
		return cmp.Diff(want, got)
	})
	binary := program.Build(t)
	out, code := c.edict(binary, "params", "-n", home, "holds")
	if want := "holding/holds  finalizer  string  example.com/held  edict-system/holding  example.com/default\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("params end with %d and lack %q:\n%s", code, want, out)
	}
	out, code = c.edict(binary, "rbac", "-n", home, "-o", "table")
	if want := "default    core   configmaps  *      get,list,watch,patch  holding/computes, holding/holds\n"; code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("rbac ends with %d and lacks %q:\n%s", code, want, out)
	}
	out, code = c.edict(binary, "release", "-n", home, "holding", "--dry-run")
	out = ordered(out)
	want := "holding/: ConfigMap default/one: would be released from example.com/held, one.example.com/computed\nholding/: ConfigMap default/two: would be released from example.com/held, two.example.com/computed\n2 objects to release, 0 failed\n"
	if code != 0 || out != want {
		t.Errorf("the dry run ends with %d:\n%s", code, cmp.Diff(want, out))
	}
	first.stop()
	c.delete("ConfigMap", home, "holding")
	c.delete("PolicySet", home, "holding")
	c.get("PolicySet", home, "holding") // it is held
	c.fromSets(nil)
	c.exists(false, "PolicySet", home, "holding")
	c.wantFinalizers("one", foreign)
	c.wantFinalizers("two")
}

// ordered returns a text with the finalizers of an object in one order: either policy may be the first.
func ordered(text string) string {
	return regexp.MustCompile(`(\w+\.example\.com/computed), (example\.com/held)`).ReplaceAllString(text, "$2, $1")
}

// putHolding makes a set that runs holding.
func (c *cluster) putHolding() {
	c.t.Helper()
	allow := []any{
		object{"policy": "holds", "apiGroup": "", "kind": "ConfigMap", "fields": []any{"metadata.finalizers"}},
		object{"policy": "computes", "apiGroup": "", "kind": "ConfigMap", "fields": []any{"metadata.finalizers"}},
	}
	c.putSet("holding", map[string]string{"holding.yaml": holding}, object{"allow": allow, "params": object{"holds": object{"finalizer": "example.com/held"}}})
}

// TestDeletionForbidden: what the account of a set may no longer do is said, and edict release ends it.
func TestDeletionForbidden(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.putHolding()
	c.put(held("one"))
	c.fromSets(nil)
	c.wantFinalizers("one", "example.com/held", "one.example.com/computed")
	c.patchSet("holding", object{"serviceAccountName": "nobody"})
	c.delete("PolicySet", home, "holding")
	c.wants("holding", "Ready", "False Waiting", "edict release holding removes them with your own account: ConfigMap default/one: ", "forbidden")
	c.lacks("holding", "Stalled")
	binary := program.Build(t)
	out, code := c.edict(binary, "release", "-n", home, "holding")
	out = ordered(out)
	if want := "holding/: ConfigMap default/one: released from example.com/held, one.example.com/computed\n1 object released, 0 failed\n"; code != 0 || out != want {
		t.Errorf("it ends with %d:\n%s", code, out)
	}
	c.exists(false, "PolicySet", home, "holding")
	c.wantFinalizers("one")
}

// TestReleaseWithoutAController: policies in files, and sets whose controller does not answer, are
// released all the same.
func TestReleaseWithoutAController(t *testing.T) {
	t.Parallel()
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
	c.putHolding()
	controller := c.fromSets(nil)
	c.wantFinalizers("one", "foreign.example.com/stays", "example.com/held", "one.example.com/computed")
	controller.stop()
	out, code = c.edict(binary, "release", "-n", home, "--all", "--delete", "--timeout", "300ms")
	out = ordered(out)
	want := "edict-system/holding: deleted\nno controller has released 1 set within 300ms; going on\nholding/: ConfigMap default/one: released from example.com/held, one.example.com/computed\n1 object released, 0 failed\n"
	if code != 0 || out != want {
		t.Errorf("it ends with %d:\n%s", code, cmp.Diff(want, out))
	}
	c.exists(false, "PolicySet", home, "holding")
	c.wantFinalizers("one", "foreign.example.com/stays")
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
	targets := release.CountsOf(bundle.Policies[0])
	r.Release(t.Context(), "holds", targets)
	if len(got) != 1 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "listing: configmaps is forbidden") || got[0].Object.Name != "" {
		t.Errorf("without any permission: %+v", got)
	}
	c.grant("read", "default", rulesOf("configmaps", "list", "get"))
	eventually(t, "the permission to list", func() string { // the API server hears of roles a moment later
		got = nil
		r.Release(t.Context(), "holds", targets)
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

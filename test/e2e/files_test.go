package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run"
)

// mount writes the files of a folder as the kubelet mounts a ConfigMap: all change at once.
func mount(t *testing.T, folder, version string, files map[string]string) {
	t.Helper()
	data := ".." + version
	if err := os.Rename(writeFolder(t, files), filepath.Join(folder, data)); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(folder, "..data_tmp")
	if err := os.Symlink(data, next); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		_ = os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name)) // it may exist
	}
}

func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestMountedPolicies: without PolicySets, the policies of a mounted ConfigMap follow its edits. What is
// refused stops nothing, and gives itself no allowance.
func TestMountedPolicies(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.put(node("a", "z", true, time.Now()))
	folder, probes := t.TempDir(), address(t)
	mount(t, folder, "1", map[string]string{"one.yaml": marks("one", "one", "a")})
	edict := c.run(func(o *run.Options) {
		o.Policies, o.Params, o.ProbeAddress = []string{folder}, nil, probes
	})
	state := func(wants ...string) {
		t.Helper()
		eventually(t, "the state of the policies", func() string {
			got, err := http.Get("http://" + probes + "/policies")
			if err != nil {
				return err.Error()
			}
			defer got.Body.Close()
			text, err := io.ReadAll(got.Body)
			for _, want := range wants {
				if err != nil || !strings.Contains(string(text), want) {
					return string(text)
				}
			}
			return ""
		})
	}
	c.wantMarks("a", map[string]string{"one": "a"})
	state(`{"policies":[{"name":"one","mode":"Enforce","phase":"Running","revision":"`)
	mount(t, folder, "2", map[string]string{"one.yaml": marks("one", "one", "b")})
	c.wantMarks("a", map[string]string{"one": "b"})
	mount(t, folder, "3", map[string]string{"one.yaml": strings.Replace(marks("one", "one", "c"), "params.value", "params.valeu", 1)})
	state(`"name":"one"`, `"refused":"`, "one.yaml:12", "params.valeu")
	mount(t, folder, "4", map[string]string{
		"one.yaml":        strings.Replace(marks("one", "one", "d"), "        - labels:", "        - finalizer: {name: example.com/x}\n        - labels:", 1),
		"allowances.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nspec: {allow: [{policy: one, apiGroup: '', kind: Node, fields: [metadata.finalizers]}]}\n",
	})
	eventually(t, "the refusal", func() string {
		if text := edict.log.String(); !strings.Contains(text, "metadata.finalizers") {
			return "the log has none"
		}
		return ""
	})
	if got := c.get("Node", "", "a"); len(got.GetFinalizers()) > 0 {
		t.Errorf("it has allowed itself the finalizers %v", got.GetFinalizers())
	}
}

package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/source"
)

const cached = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: %s}
spec:
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: r
      do: [{labels: {set: {a: "${string(object.spec.%s)}"}}}]
`

const widget = `kind: CustomResourceDefinition
spec: {group: example.com, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: [{name: v1, schema: {openAPIV3Schema: {
  type: object, properties: {spec: {type: object, properties: {%s: {type: integer}}}}}}}]}
`

// set runs the ConfigMap m.
const set = "apiVersion: edict.dev/v1alpha1\nkind: PolicySet\nmetadata: {name: s}\nspec:\n  source: {configMap: {name: m}}\n"

// write writes files into a folder.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCache: a Load with a cache finds what one without finds, and compiles only
// policies whose text, Rego or types have changed.
func TestCache(t *testing.T) {
	t.Parallel()
	folder, cache := t.TempDir(), &source.Cache{}
	write(t, folder, map[string]string{
		"a.yaml": fmt.Sprintf(cached, "a", "size"), "b.yaml": fmt.Sprintf(cached, "b", "size"), "c.yaml": fmt.Sprintf(cached, "c", "other"),
		"m.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  p.yaml: |\n    " +
			strings.ReplaceAll(fmt.Sprintf(cached, "m", "size"), "\n", "\n    "),
		"schemas/w.yaml": fmt.Sprintf(widget, "size"),
	})
	last := map[string]*analyze.Node{}
	for _, step := range []struct {
		name, recompiled string
		files            map[string]string
		texts            map[string][]byte
	}{
		{name: "the first time", recompiled: "a b m"},
		{name: "nothing has changed"},
		{name: "the text of the editor", recompiled: "a", texts: map[string][]byte{"a.yaml": []byte(fmt.Sprintf(cached, "a", "size") + "# more\n")}},
		{name: "the text of the file again", recompiled: "a"},
		{name: "another name", recompiled: "d", files: map[string]string{"b.yaml": fmt.Sprintf(cached, "d", "size")}},
		{name: "Rego beside it", recompiled: "d", files: map[string]string{"b.rego": "package b\n"}},
		{name: "a set", recompiled: "m", files: map[string]string{"s.yaml": set}},
		{name: "a set that has not changed"},
		{name: "a value for its param", files: map[string]string{"s.yaml": set + "  params: {m: {size: 1}}\n"}},
		{name: "no value", files: map[string]string{"s.yaml": set + "  params: {m: {size: null}}\n"}},
		{name: "no params", recompiled: "m", files: map[string]string{"s.yaml": set}},
		{name: "another type", recompiled: "c", files: map[string]string{"schemas/w.yaml": fmt.Sprintf(widget, "other")}},
	} {
		write(t, folder, step.files)
		texts := map[string][]byte{}
		for name, text := range step.texts {
			texts[filepath.Join(folder, name)] = text
		}
		got, err := source.Load([]string{folder}, source.Options{Texts: texts, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		want, err := source.Load([]string{folder}, source.Options{Texts: texts})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Problems, got.Problems); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
		var recompiled []string
		now := map[string]*analyze.Node{}
		for _, p := range got.Policies {
			if now[p.Name] = p.Graph; last[p.Name] != p.Graph {
				recompiled = append(recompiled, p.Name)
			}
		}
		if last = now; strings.Join(recompiled, " ") != step.recompiled {
			t.Errorf("%s: compiled %v, want %s", step.name, recompiled, step.recompiled)
		}
	}
}

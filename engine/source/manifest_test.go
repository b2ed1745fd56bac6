package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// manifestOf writes a ConfigMap down.
func manifestOf(t *testing.T, m *ConfigMap, labels ...string) string {
	t.Helper()
	annotations, set := map[string]string{}, map[string]string{}
	if m.Mode != "" {
		annotations[v1alpha1.AnnotationMode] = m.Mode
	}
	if m.Rollout != "" {
		annotations[v1alpha1.AnnotationRollout] = m.Rollout
	}
	for _, label := range labels {
		set[label] = "true"
	}
	binary := map[string]string{}
	for _, key := range m.Binary {
		binary[key] = "AA=="
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": m.Data, "binaryData": binary,
		"metadata": map[string]any{"name": m.Name, "namespace": m.Namespace, "labels": set, "annotations": annotations},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// loadedFrom loads the files of a folder.
func loadedFrom(t *testing.T, o Options, files map[string]string) (*Bundle, string) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Load([]string{folder}, o)
	if err != nil {
		t.Fatal(err)
	}
	return b, folder
}

// TestManifestsAreReadAsByTheController compares what is found in manifests with what the
// controller finds in the same ConfigMaps.
func TestManifestsAreReadAsByTheController(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		policies, params []*ConfigMap
		typed            map[string]map[string]string
	}{
		"one policy": {policies: []*ConfigMap{at(1, "a", map[string]string{"p.yaml": policy("p", "")})}},
		"several, of which one does not compile": {policies: []*ConfigMap{
			at(2, "a", map[string]string{"p.yaml": policy("p", ""), "q.yaml": policy("q", "  variables: [{name: x, expression: nobody}]\n")}),
			at(1, "b", map[string]string{"r.yaml": policy("r", "")}),
		}},
		"one policy twice": {policies: []*ConfigMap{at(2, "a", map[string]string{"p.yaml": policy("p", "")}), at(1, "b", map[string]string{"p.yaml": policy("p", "")})}},
		"keys that are not read": {policies: []*ConfigMap{{
			Namespace: "ns", Name: "a", Binary: []string{"b.yaml"}, Data: map[string]string{"p.yaml": policy("p", ""), "notes": "x", "lonely.rego": "package p"},
		}}},
		"modes": {policies: []*ConfigMap{{Namespace: "ns", Name: "a", Mode: "p=Shadow,q=Off,r=Disabled", Data: map[string]string{
			"p.yaml": policy("p", ""), "q.yaml": policy("q", ""),
		}}}},
		"steps that cannot be read": {policies: []*ConfigMap{{Namespace: "ns", Name: "a", Rollout: "{steps: 3}", Data: map[string]string{"p.yaml": policy("p", "")}}}},
		"values": {
			policies: []*ConfigMap{at(1, "a", map[string]string{"p.yaml": policy("p", ""), "q.yaml": policy("q", "")})},
			params:   []*ConfigMap{at(2, "v", map[string]string{"p": "value: b", "q.yaml": "value: [", "stranger": "value: b"}), at(1, "w", map[string]string{"p": "value: c"})},
		},
		"typed values win": {
			policies: []*ConfigMap{at(1, "a", map[string]string{"p.yaml": policy("p", "")})},
			params:   []*ConfigMap{at(2, "v", map[string]string{"p": "value: b"})},
			typed:    map[string]map[string]string{"p": {"value": "t"}},
		},
		"a value of the wrong type, and one of no param": {
			policies: []*ConfigMap{at(1, "a", map[string]string{"p.yaml": policy("p", "")})},
			params:   []*ConfigMap{at(2, "v", map[string]string{"p": "value: {a: 1}\nvalve: 1"})},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var contents []*Contents
			var values []*Values
			var want document.Problems
			files := map[string]string{}
			add := func(m *ConfigMap, label string) {
				files[fmt.Sprintf("%d.yaml", len(files))] = manifestOf(t, m, label)
			}
			for _, m := range test.policies {
				add(m, v1alpha1.LabelPolicy)
				contents = append(contents, m.Read())
				want.Append(contents[len(contents)-1].Problems)
			}
			for _, m := range test.params {
				add(m, v1alpha1.LabelParams)
				values = append(values, m.ReadParams())
				want.Append(values[len(values)-1].Problems)
			}
			c := NewCatalog(contents, values, compile.TypedOverrides(test.typed, Typed))
			for _, conflicts := range c.Conflicts {
				want.Append(conflicts)
			}
			revisions := map[string]string{}
			for id, u := range c.Units {
				_, problems, err := u.Compile(schema.Builtin(), nil)
				if err != nil {
					t.Fatal(err)
				}
				want.Append(problems)
				revisions[id] = u.Revision()
			}

			b, folder := loadedFrom(t, Options{Params: compile.TypedOverrides(test.typed, Typed)}, files)
			got := map[string]string{}
			for _, u := range slices.Backward(b.Units) { // of two with one ID the first counts
				got[u.ID()] = u.Revision()
			}
			if diff := cmp.Diff(revisions, got); diff != "" {
				t.Errorf("revisions (-controller +manifests):\n%s", diff)
			}
			said := messages(b.Problems)
			for i := range said {
				for file := range files {
					said[i] = strings.ReplaceAll(said[i], filepath.Join(folder, file), "ns")
				}
			}
			if diff := cmp.Diff(unique(messages(want.List())), unique(said)); diff != "" {
				t.Errorf("problems (-controller +manifests):\n%s", diff)
			}
		})
	}
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// TestManifestsBesideOthers: a file may have manifests and policies, and a List as kubectl
// prints it.
func TestManifestsBesideOthers(t *testing.T) {
	t.Parallel()
	inside := manifestOf(t, at(1, "a", map[string]string{"p.yaml": policy("p", "")}), v1alpha1.LabelPolicy)
	values := manifestOf(t, at(1, "v", map[string]string{"q": "value: b"}), v1alpha1.LabelParams)
	list := "apiVersion: v1\nkind: List\nitems:\n  - " + strings.ReplaceAll(inside, "\n", "\n    ") + "\n  - " + strings.ReplaceAll(values, "\n", "\n    ")
	shown := func(allow string) string {
		text := "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: a}\nspec: {allow: [" + allow + "]}\n"
		return manifestOf(t, at(1, "s", map[string]string{"allowances.yaml": text}), v1alpha1.LabelAllowances)
	}
	tests := map[string]struct {
		text              string
		policies, skipped int
		problem           string
	}{
		"a policy beside a manifest":     {inside + "---\n" + policy("q", ""), 2, 0, ""},
		"with both labels":               {manifestOf(t, at(1, "a", map[string]string{"p.yaml": policy("p", "")}), v1alpha1.LabelPolicy, v1alpha1.LabelParams), 1, 0, "no key is read as params"},
		"another manifest":               {inside + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", 1, 1, ""},
		"a List":                         {list + "\n---\n" + policy("q", ""), 2, 0, ""},
		"a ConfigMap without the label":  {manifestOf(t, at(1, "a", map[string]string{"p.yaml": policy("p", "")})), 0, 0, "the ConfigMap a has policies, and no label edict.dev/policy with the value \"true\""},
		"another ConfigMap":              {manifestOf(t, at(1, "a", map[string]string{"x": "y"})), 0, 1, "skipped: a ConfigMap of v1 is no document of Edict"},
		"a test that cannot be read":     {manifestOf(t, at(1, "a", map[string]string{"p.yaml": policy("p", ""), "p.test.yaml": "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nspec: {casse: []}\n"}), v1alpha1.LabelPolicy), 1, 0, `spec has no field "casse"`},
		"allowances":                     {inside + "---\n" + shown("{policy: p, kind: Node, fields: [delete]}"), 1, 0, ""},
		"allowances that cannot be read": {shown("{policy: p, knid: Node, fields: [delete]}"), 0, 0, `has no field "knid"`},
		"YAML that ends too early":       {inside + "---\na: [", 1, 0, "not valid YAML"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "m.yaml")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := Load([]string{file}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Policies) != test.policies || b.Skipped != test.skipped {
				t.Errorf("%d policies and %d skipped, want %d and %d", len(b.Policies), b.Skipped, test.policies, test.skipped)
			}
			if allowed := len(b.Allowances) > 0; allowed != (name == "allowances") {
				t.Errorf("allowances %v", b.Allowances)
			}
			said := strings.Join(messages(b.Problems), "\n")
			if test.problem == "" && said != "" || !strings.Contains(said, test.problem) {
				t.Errorf("problems are\n%s\nwant %q", said, test.problem)
			}
		})
	}
}

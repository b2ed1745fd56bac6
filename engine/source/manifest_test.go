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

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// manifestOf writes a ConfigMap down.
func manifestOf(t *testing.T, m *ConfigMap) string {
	t.Helper()
	binary := map[string]string{}
	for _, key := range m.Binary {
		binary[key] = "AA=="
	}
	return yamlOf(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": m.Data, "binaryData": binary, "metadata": map[string]any{"name": m.Name, "namespace": m.Namespace},
	})
}

// setManifestOf writes a PolicySet down.
func setManifestOf(t *testing.T, s *Set) string {
	t.Helper()
	return yamlOf(t, map[string]any{
		"apiVersion": "edict.dev/v1alpha1", "kind": "PolicySet", "spec": s.Spec, "metadata": map[string]any{"name": s.Name, "namespace": s.Namespace},
	})
}

func yamlOf(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
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

// TestManifestsAreReadAsByTheController compares what is found in manifests, of sets and ConfigMaps in
// files of their own, with what the controller finds in the same objects.
func TestManifestsAreReadAsByTheController(t *testing.T) {
	t.Parallel()
	named := func(name string, spec edictv1.PolicySetSpec) *Set {
		s := setOf(name, spec)
		s.Spec.Source.ConfigMap.Name = name
		return s
	}
	group := ""
	tests := map[string]struct {
		sets  []*Set
		maps  []*ConfigMap // of the same names
		typed map[string]map[string]string
	}{
		"one policy": {sets: []*Set{named("a", edictv1.PolicySetSpec{})}, maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", "")})}},
		"several, of which one does not compile": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{}), named("b", edictv1.PolicySetSpec{})},
			maps: []*ConfigMap{
				at("a", map[string]string{"p.yaml": policy("p", ""), "q.yaml": policy("q", "  variables: [{name: x, expression: nobody}]\n")}),
				at("b", map[string]string{"r.yaml": policy("r", "")}),
			},
		},
		"one name in two sets": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{}), named("b", edictv1.PolicySetSpec{ShadowOf: &edictv1.LocalReference{Name: "a"}})},
			maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", "")}), at("b", map[string]string{"p.yaml": policy("p", "  mode: Enforce\n")})},
		},
		"keys that are not read": {sets: []*Set{named("a", edictv1.PolicySetSpec{})}, maps: []*ConfigMap{{
			Namespace: "ns", Name: "a", Binary: []string{"b.yaml"}, Data: map[string]string{"p.yaml": policy("p", ""), "notes": "x", "lonely.rego": "package p"},
		}}},
		"modes": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{Mode: edictv1.ModeEnforce, Modes: map[string]edictv1.Mode{"p": edictv1.ModeShadow, "r": edictv1.ModeDisabled}})},
			maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", ""), "q.yaml": policy("q", "")})},
		},
		"steps that cannot be read": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{Rollout: &edictv1.Rollout{Interval: "soon"}})}, maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", "")})},
		},
		"values": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{Params: params(map[string]map[string]string{"p": {"value": `"b"`}, "stranger": {"value": "1"}})})},
			maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", ""), "q.yaml": policy("q", ""), "params.yaml": "p: {value: c}\nq: {value: d}\n"})},
		},
		"values that cannot be read": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{Params: params(map[string]map[string]string{"p": {"value": "null"}})})},
			maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", ""), "params.yaml": "q: ["})},
		},
		"typed values win": {
			sets:  []*Set{named("a", edictv1.PolicySetSpec{Params: params(map[string]map[string]string{"p": {"value": `"b"`}})})},
			maps:  []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", "")})},
			typed: map[string]map[string]string{"p": {"value": "t"}},
		},
		"a value of the wrong type, and one of no param": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{Params: params(map[string]map[string]string{"p": {"value": `{"a": 1}`, "valve": "1"}})})},
			maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", "")})},
		},
		"allowances": {
			sets: []*Set{named("a", edictv1.PolicySetSpec{Allow: []edictv1.Allowance{{Policy: "p", APIGroup: &group, Kind: "Node", Fields: []string{"metadata.labels.mark"}}}})},
			maps: []*ConfigMap{at("a", map[string]string{"p.yaml": policy("p", "")})},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var contents []*Contents
			var want document.Problems
			files := map[string]string{}
			for i, s := range test.sets {
				files[fmt.Sprintf("%d-map.yaml", i)], files[fmt.Sprintf("%d-set.yaml", i)] = manifestOf(t, test.maps[i]), setManifestOf(t, s)
				contents = append(contents, Read(s, test.maps[i]))
				want.Append(contents[i].Problems)
			}
			revisions := map[string]string{}
			for id, u := range NewCatalog(contents, compile.TypedOverrides(test.typed, Typed)).Units {
				_, problems, err := NewCompiler(nil, nil).Compile(t.Context(), u, schema.Builtin())
				if err != nil {
					t.Fatal(err)
				}
				want.Append(problems)
				revisions[id] = u.Revision() + " " + u.mode()
			}

			b, folder := loadedFrom(t, Options{Params: compile.TypedOverrides(test.typed, Typed)}, files)
			got := map[string]string{}
			for _, u := range b.Units {
				got[u.ID()] = u.Revision() + " " + u.mode()
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
			for i, c := range b.Contents {
				if len(c.Set.Allowances()) != len(test.sets[i].Spec.Allow) {
					t.Errorf("%d allowances", len(c.Set.Allowances()))
				}
			}
		})
	}
}

// TestPlacesInManifests: a problem in a field of a set or in a key of a ConfigMap has its line in the file.
func TestPlacesInManifests(t *testing.T) {
	t.Parallel()
	const set = "apiVersion: edict.dev/v1alpha1\nkind: PolicySet\nmetadata: {name: s, namespace: ns}\nspec:\n  source: {configMap: {name: m}}\n  modes:\n    q: Disabled\n  params:\n    p:\n      value: null\n  rollout:\n    interval: soon\n    steps: [{percent: 5}]\n"
	text := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ns}\ndata:\n  p.yaml: |\n    " + strings.ReplaceAll(strings.TrimSpace(policy("p", "  nonsense: 1\n")), "\n", "\n    ") + "\n"
	b, folder := loadedFrom(t, Options{}, map[string]string{"a.yaml": set + text})
	lines := strings.Split(set+text, "\n")
	got := []string{}
	for _, p := range b.Problems {
		at := b.Place(p.Position)
		if at.File != filepath.Join(folder, "a.yaml") || at.Line == 0 {
			t.Errorf("%s is at %s", p.Message, at)
			continue
		}
		got = append(got, strings.TrimSpace(lines[at.Line-1]))
	}
	if diff := cmp.Diff([]string{"interval: soon", "nonsense: 1", "q: Disabled", "value: null"}, unique(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// TestManifestsBesideOthers: a file may have manifests and policies, and a List as kubectl
// prints it. A ConfigMap with policies is read without a set, too; a set without its ConfigMap is told of.
func TestManifestsBesideOthers(t *testing.T) {
	t.Parallel()
	inside := manifestOf(t, at("m", map[string]string{"p.yaml": policy("p", "")}))
	set := setManifestOf(t, setOf("s", edictv1.PolicySetSpec{}))
	elsewhere := setOf("s", edictv1.PolicySetSpec{})
	elsewhere.Namespace = "other"
	item := func(text string) string { return "  - " + strings.ReplaceAll(text, "\n", "\n    ") + "\n" }
	const lonely = "the ConfigMap m of the PolicySet s is not among the files (give its file, too)"
	tests := map[string]struct {
		text    string
		ids     []string
		skipped int
		problem string
	}{
		"a ConfigMap":                   {inside, []string{"p"}, 0, ""},
		"with a set":                    {set + "---\n" + inside, []string{"s/p"}, 0, ""},
		"after the ConfigMap":           {inside + "---\n" + set, []string{"s/p"}, 0, ""},
		"two sets":                      {inside + "---\n" + set + "---\n" + setManifestOf(t, setOf("t", edictv1.PolicySetSpec{})), []string{"s/p", "t/p"}, 0, ""},
		"a set alone":                   {set, nil, 0, lonely},
		"a set of another namespace":    {setManifestOf(t, elsewhere) + "---\n" + inside, []string{"p"}, 0, lonely},
		"a set and another ConfigMap":   {set + "---\n" + manifestOf(t, at("n", map[string]string{"p.yaml": policy("p", "")})), []string{"p"}, 0, lonely},
		"a set, its ConfigMap is empty": {set + "---\n" + manifestOf(t, at("m", nil)), nil, 0, ""},
		"a policy beside a manifest":    {inside + "---\n" + policy("q", ""), []string{"p", "q"}, 0, ""},
		"the name of one in a set":      {set + "---\n" + inside + "---\n" + policy("p", ""), []string{"p", "s/p"}, 0, ""},
		"another manifest":              {inside + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", []string{"p"}, 1, ""},
		"a List":                        {"apiVersion: v1\nkind: List\nitems:\n" + item(inside) + item(set) + "\n---\n" + policy("q", ""), []string{"q", "s/p"}, 0, ""},
		"another ConfigMap":             {manifestOf(t, at("a", map[string]string{"x": "y"})), nil, 1, "skipped: a ConfigMap of v1 is no document of Edict"},
		"a test that cannot be read":    {manifestOf(t, at("m", map[string]string{"p.yaml": policy("p", ""), "p_test.yaml": "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nspec: {casse: []}\n"})), []string{"p"}, 0, `spec has no field "casse"`},
		"allowances in the text":        {manifestOf(t, at("m", map[string]string{"p.yaml": policy("p", ""), "a.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: a}\nspec: {allow: []}\n"})), []string{"p"}, 0, "allowances in the text have no effect"},
		"a field that is none":          {strings.Replace(set, "spec:", "spec:\n  sorce: {}", 1) + "---\n" + inside, []string{"p"}, 0, `the PolicySet s cannot be read: `},
		"YAML that ends too early":      {inside + "---\na: [", []string{"p"}, 0, "not valid YAML"},
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
			var ids []string
			for _, p := range b.Policies {
				ids = append(ids, p.ID())
			}
			if diff := cmp.Diff(test.ids, ids); diff != "" || b.Skipped != test.skipped {
				t.Errorf("%d skipped, want %d (-want +got):\n%s", b.Skipped, test.skipped, diff)
			}
			said := strings.Join(messages(b.Problems), "\n")
			if test.problem == "" && said != "" || !strings.Contains(said, test.problem) {
				t.Errorf("problems are\n%s\nwant %q", said, test.problem)
			}
		})
	}
}

package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
)

func TestParseObjects(t *testing.T) {
	t.Parallel()
	node := Object{"apiVersion": "v1", "kind": "Node", "metadata": Object{"name": "a"}}
	other := Object{"apiVersion": "v1", "kind": "Node", "metadata": Object{"name": "b"}, "spec": Object{"x": int64(1), "y": 1.5}}
	for name, tc := range map[string]struct {
		text string
		want []Object
	}{
		"YAML":                  {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\n", []Object{node}},
		"several documents":     {"---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\nspec: {x: 1, y: 1.5}\n", []Object{node, other}},
		"JSON":                  {`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}, "spec": {"x": 1, "y": 1.5}}`, []Object{other}},
		"JSON after a break":    {"\n\t" + `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}`, []Object{node}},
		"JSON of two documents": {`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}` + "\n---\n" + `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "\ud83d\ude00"}}` + "\n---\n", []Object{node, {"apiVersion": "v1", "kind": "Node", "metadata": Object{"name": "😀"}}}},
		"a List":                {`{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}, "spec": {"x": 1, "y": 1.5}}]}`, []Object{node, other}},
		"a List in YAML":        {"kind: NodeList\nmetadata: {resourceVersion: \"1\"}\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n", []Object{node}},
		"a List of Lists":       {"kind: List\nitems:\n- kind: List\n  items:\n  - {apiVersion: v1, kind: Node, metadata: {name: a}}\n", []Object{node}},
		"an empty List":         {"kind: List\nitems: []\n", nil},
		"nothing":               {"", nil},
		"YAML in one mapping":   {"{apiVersion: v1, kind: Node, metadata: {name: a}}", []Object{node}},
		"a kind with items":     {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nitems: [x]\n", []Object{{"apiVersion": "v1", "kind": "Node", "metadata": Object{"name": "a"}, "items": []any{"x"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseObjects("f.yaml", []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, "the objects", tc.want, got)
		})
	}
}

func TestParseObjectsRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- a\n":                                                        "f.yaml:1:1: a manifest must be a mapping, not a list",
		"kind: Node\nmetadata: {name: a}\n":                            "f.yaml:1:1: a manifest needs apiVersion, kind and metadata.name",
		"apiVersion: v1\nkind: Node\n":                                 "f.yaml:1:1: a manifest needs apiVersion, kind and metadata.name",
		"apiVersion: v1\nmetadata: {name: a}\n":                        "f.yaml:1:1: a manifest needs apiVersion, kind and metadata.name",
		`{"apiVersion": "v1", "kind": "Node"}`:                         "f.yaml: a manifest needs apiVersion, kind and metadata.name",
		"kind: List\nitems: [a]\n":                                     "f.yaml:1:1: an item of the List is not an object",
		"apiVersion: v1\nkind: Node\nkind: Pod\nmetadata: {name: a}\n": `f.yaml:3:1: duplicate key "kind", first on line 2`,
		"apiVersion: v1\n---\na: [\n":                                  "f.yaml:1:1: a manifest needs",
		`{"apiVersion": "v1", "kind": "Node", "metadata": [}`:          "not valid YAML",
		"apiVersion: v1\nkind: Node\nmetadata: {name: {a: b}}":         "f.yaml:1:1: a manifest needs",
	} {
		if _, err := ParseObjects("f.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReadObjects(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"answers.json": `{"extender": {"default": 1}}`, "b.yaml": "apiVersion: v1\nkind: Node\nmetadata: {name: b}\n", "a.json": `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}`, "README.md": "no manifest",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := ReadObjects(root)
	if err != nil || len(objects) != 2 || metadata(objects[0])["name"] != "a" {
		t.Errorf("got %v, %v", objects, err)
	}
	if objects, err := ReadObjects(root, filepath.Join(t.TempDir(), "other-answers.json")); err != nil || len(objects) != 2 {
		t.Errorf("with answers that are elsewhere: got %v, %v", objects, err)
	}
	if _, err := ReadObjects(filepath.Join(root, "nothing")); err == nil {
		t.Error("a path that does not exist is read")
	}
}

// TestLargeFiles: worlds may be larger than policies.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for range 5000 {
		text.WriteString("---\napiVersion: v1\nkind: Node\nmetadata: {name: a, annotations: {a: \"" + strings.Repeat("x", 50) + "\"}}\n")
	}
	objects, err := ParseObjects("f.yaml", []byte(text.String()))
	if err != nil || len(objects) != 5000 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

// TestCheckTypes: a value that the API server cannot decode is found, a field that it drops
// is not.
func TestCheckTypes(t *testing.T) {
	t.Parallel()
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for text, want := range map[string]string{
		configMap + "data: {count: 12}":                                                    "ConfigMap a has data.count: 12, which must be a text",
		configMap + "data: {flag: yes}":                                                    "ConfigMap a has data.flag: true, which must be a text",
		configMap + "data: {flag: \"yes\"}":                                                "",
		configMap + "immutable: off\nspec: {}":                                             "",
		configMap + "immutable: \"off\"":                                                   `ConfigMap a has immutable: "off", which must be true or false`,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: 1}]}":  "Pod a has spec.containers[].name: 1, which must be a text",
		"apiVersion: example.com/v1\nkind: App\nmetadata: {name: a}\nspec: {enabled: yes}": "",
	} {
		objects, err := ParseObjects("w.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := CheckTypes(schema.Builtin(), objects); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

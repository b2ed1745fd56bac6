package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
)

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

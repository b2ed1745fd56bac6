package scaffold_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/scaffold"
)

// TestMake renames a policy where it is named, and nothing else.
func TestMake(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"app/app.yaml":         {Data: []byte("# yaml-language-server: x\n# Keeps an app. And more.\nmetadata: {name: app}\nspec: {variables: [{name: app, expression: app}], metadata: {name: app}}\n")},
		"app/app.rego":         {Data: []byte("package app\n")},
		"app/allowances.yaml":  {Data: []byte("metadata: {name: app}\nspec: {allow: [{policy: \"app\", kind: App}]}\n")},
		"app/schemas/app.yaml": {Data: []byte("metadata: {name: app}\n")},
		"app/app_test.yaml": {Data: []byte("metadata: {name: app}\nspec:\n  policies: [app.yaml]\n  only: [app]\n  params: {app: {app: app}}\n" +
			"  objects: [{kind: Pod, metadata: {name: app, labels: {app: app, edict.dev/policy: app}}}]\n  cases: [{name: app, params: {app: {}}}]\n")},
	}
	got := map[string]string{}
	list, err := scaffold.Make(files, "app", "shop-9")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		got[f.Path] = string(f.Text)
	}
	want := map[string]string{
		"shop-9.yaml":      "# yaml-language-server: x\n# Keeps an app. And more.\nmetadata: {name: shop-9}\nspec: {variables: [{name: app, expression: app}], metadata: {name: app}}\n",
		"shop-9.rego":      "package app\n",
		"allowances.yaml":  "metadata: {name: shop-9}\nspec: {allow: [{policy: \"shop-9\", kind: App}]}\n",
		"schemas/app.yaml": "metadata: {name: app}\n",
		"shop-9_test.yaml": "metadata: {name: shop-9}\nspec:\n  policies: [shop-9.yaml]\n  only: [shop-9]\n  params: {shop-9: {app: app}}\n" +
			"  objects: [{kind: Pod, metadata: {name: app, labels: {app: app, edict.dev/policy: shop-9}}}]\n  cases: [{name: app, params: {shop-9: {}}}]\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	recipes, err := scaffold.Recipes(files)
	if diff := cmp.Diff([]scaffold.Recipe{{Name: "app", Short: "Keeps an app"}}, recipes); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
)

// TestMisspeltCustomKind: a kind of a group with CRDs is suggested, as one of
// Kubernetes is, wherever a kind is written.
func TestMisspeltCustomKind(t *testing.T) {
	t.Parallel()
	schemas := schema.NewSet(schema.Builtin())
	if err := schemas.AddCRD([]byte(strings.NewReplacer("kind: %s", "kind: Widget", "plural: %s", "plural: widgets", "{%s}", "{}").Replace(sized))); err != nil {
		t.Fatal(err)
	}
	const begin = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n"
	const rule = "  rules: [{name: r, do: [{labels: {set: {a: b}}}]}]\n"
	for name, tc := range map[string]struct{ spec, hint string }{
		"for":           {"  for: {apiVersion: example.com/v1, kind: Widgte}\n" + rule, `did you mean "Widget"?`},
		"the plural":    {"  for: {apiVersion: example.com/v1, kind: widgets}\n" + rule, `did you mean "Widget"?`},
		"an input":      {"  for: {apiVersion: v1, kind: Node}\n  inputs: [{name: w, apiVersion: example.com/v1, kind: Widgets}]\n" + rule, `did you mean "Widget"?`},
		"another":       {"  for: {apiVersion: example.com/v1, kind: Thing}\n" + rule, "put its CRD into a folder schemas beside the policies, or name the folder with --schemas"},
		"another group": {"  for: {apiVersion: example.org/v1, kind: Widgte}\n" + rule, "put its CRD into a folder schemas beside the policies, or name the folder with --schemas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, begin+tc.spec, PolicyOptions{}, schemas)
			found := false
			for _, one := range problems {
				if strings.HasPrefix(one.Message, "no schema is known for") {
					found = one.Hint == tc.hint
				}
			}
			if !found {
				t.Errorf("got %v, want the hint %q", problems, tc.hint)
			}
		})
	}
}

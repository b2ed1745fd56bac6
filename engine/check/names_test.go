package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/source"
)

const forKinds = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: two}
spec:
  for:
    kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: StatefulSet}]
  limits: {removals: {perWindow: 10}}
  rules: [{name: remove, when: has(object.metadata.annotations), do: [{delete: {of: object}}]}]
`

// TestAllowancesOfDocuments: an allowance for the name of a document holds for none of
// its policies, and the finding says which names do.
func TestAllowancesOfDocuments(t *testing.T) {
	t.Parallel()
	unknown := func(line string) string {
		return "allowances.yaml:" + line + `:16: "two" is a document for several kinds, and an allowance is for one policy: this one has no effect (allow each that needs it: policy: two-deployment, policy: two-statefulset)`
	}
	lacks := func(policy, kind string) string {
		return "policy.yaml:8:80: the policy " + policy + " may not delete objects of kind " + kind + "; the installation can allow it (there is an allowance for two, which is the document of this policy: an allowance names one policy, " + policy + ")"
	}
	for name, tc := range map[string]struct {
		policies []string
		want     []string
	}{
		"of one policy":   {[]string{"two-deployment", "two-statefulset"}, nil},
		"of the document": {[]string{"two"}, []string{unknown("6"), unknown("7"), lacks("two-deployment", "Deployment"), lacks("two-statefulset", "StatefulSet")}},
		"of one like it": {[]string{"two-deploymnt", "two-statefulset"}, []string{"policy.yaml:8:80: the policy two-deployment may not delete objects of kind Deployment; the installation can allow it " +
			"(the allowance at FOLDER/allowances.yaml:6:7 is for policy: two-deploymnt and kind: Deployment and lacks this: correct it, or add to allowances.yaml beside the policies (edict allowances prints the whole document):\n    - policy: two-deployment\n      apiGroup: \"apps\"\n      kind: Deployment\n      fields: [delete])"}},
		"of a policy elsewhere": {[]string{"other", "two-deployment", "two-statefulset"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, findingsWith(t, forKinds, tc.policies...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestMissingAllowanceOfKinds: what all policies of a document lack is said once, with what to
// add for each.
func TestMissingAllowanceOfKinds(t *testing.T) {
	t.Parallel()
	text := strings.Replace(forKinds, "rules:", "inputs: [{name: s, apiVersion: v1, kind: Secret}]\n  rules:", 1)
	got := strings.Join(findingsWith(t, text, "two-deployment", "two-statefulset"), "\n")
	const entry = "    - policy: two-%s\n      apiGroup: \"\"\n      kind: Secret\n      fields: [read]"
	want := "the policy two may not read objects of kind Secret; the installation can allow it (add to allowances.yaml beside the policies " +
		"(edict allowances prints the whole document):\n" + fmt.Sprintf(entry, "deployment") + "\n" + fmt.Sprintf(entry, "statefulset") + ")"
	if !strings.Contains(got, want) || strings.Count(got, "Secret;") != 1 {
		t.Errorf("got %s, want %s once", got, want)
	}
}

// findingsWith returns the findings about a policy beside allowances to delete.
func findingsWith(t *testing.T, text string, allowed ...string) (out []string) {
	t.Helper()
	allowances := "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: a}\nspec:\n  allow:\n"
	for _, policy := range allowed {
		allowances += "    - {policy: " + policy + ", apiGroup: apps, kind: Deployment, fields: [delete]}\n    - {policy: " + policy + ", apiGroup: apps, kind: StatefulSet, fields: [delete]}\n"
	}
	folder := t.TempDir()
	for file, text := range map[string]string{"policy.yaml": text, "allowances.yaml": allowances} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := source.Load([]string{folder}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range check.Findings(b) {
		out = append(out, strings.ReplaceAll(strings.TrimPrefix(p.Error(), folder+"/"), folder, "FOLDER"))
	}
	return out
}

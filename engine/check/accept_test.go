package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// found returns the findings in a text as LINE CODE.
func found(t *testing.T, text string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{file}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, p := range check.Findings(b) {
		if check.CodeOf(p) == document.MissingAllowance && (strings.Contains(p.Message, " metadata.labels.") || strings.Contains(p.Message, "metadata.annotations.")) {
			continue // of what nearly all examples write
		}
		out = append(out, fmt.Sprintf("%d %s", p.Line, check.CodeOf(p)))
	}
	return out
}

// forNodes is the beginning of a policy, five lines.
const forNodes = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
`

// begin is a policy up to its variables.
const begin = forNodes + `  rules: [{name: mark, do: [{labels: {set: {a: b}}}]}]
  variables:
`

func TestAcceptances(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"none":        {`    - {name: v, expression: "1"}`, []string{"8 unused-variable"}},
		"on the line": {`    - {name: v, expression: "1"} # edict:accept unused-variable used by a later version`, []string{}},
		"on the line above": {`    # edict:accept unused-variable used by a later version
    - {name: v, expression: "1"}`, []string{}},
		"further above, among comments": {`    # edict:accept unused-variable used by a later version
    # The number of things.
    - {name: v, expression: "1"}`, []string{}},
		"not directly above": {`    # edict:accept unused-variable used by a later version
    - {name: u, expression: "1"}
    - {name: v, expression: "1"}`, []string{"10 unused-variable"}},
		"inside a block": {`    - name: v # edict:accept unused-variable an example
      expression: >-  # edict:accept quantity-as-text an example
        object.metadata.name != "" &&
        object.metadata.name < "500m"`, []string{}},
		"in a block, where it is no comment": {`    - name: v
      expression: |
        // # edict:accept unused-variable no
        1`, []string{"8 unused-variable"}},
		"without a reason": {`    - {name: v, expression: "1"} # edict:accept unused-variable`, []string{"8 unused-variable", "8 acceptance-invalid"}},
		"of another code":  {`    - {name: v, expression: "1"} # edict:accept unused-input why`, []string{"8 unused-variable", "8 acceptance-unused"}},
		"of no code":       {`    - {name: v, expression: "1"} # edict:accept unused-varible why`, []string{"8 unused-variable", "8 acceptance-invalid"}},
		"of an error":      {`    - {name: v, expression: "x"} # edict:accept invalid why`, []string{"8 invalid", "8 acceptance-invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, found(t, begin+tc.text+"\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

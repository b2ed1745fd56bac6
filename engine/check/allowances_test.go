package check

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"
)

// TestQuoted: the fields of an allowance are read as they were written.
func TestQuoted(t *testing.T) {
	t.Parallel()
	want := []string{"delete", "*", "spec.nodeName", "approve:example.com/node", "approve:example.com/*"}
	var got []string
	if err := yaml.Unmarshal([]byte("["+quoted(want)+"]"), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

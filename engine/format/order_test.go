package format

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
)

// TestOrdersAreComplete: every section of a document has a place.
func TestOrdersAreComplete(t *testing.T) {
	t.Parallel()
	for kind, spec := range map[string]any{v1alpha1.KindPolicy: v1alpha1.Spec{}, v1alpha1.KindPolicyTest: v1alpha1.TestSpec{}} {
		var fields []string
		for f := range reflect.TypeOf(spec).Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" && tag != "-" {
				fields = append(fields, tag)
			}
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(fields)), slices.Sorted(slices.Values(orders[kind]))); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

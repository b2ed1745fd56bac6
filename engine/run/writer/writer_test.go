package writer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/apply"
)

// TestDeleteOptions: what a deletion says is what the API server is asked.
func TestDeleteOptions(t *testing.T) {
	t.Parallel()
	uid, version, grace := types.UID("u"), "7", int64(0)
	foreground := metav1.DeletePropagationForeground
	for name, tc := range map[string]struct {
		deletion apply.Deletion
		want     metav1.DeleteOptions
	}{
		"nothing": {},
		"all": {
			apply.Deletion{UID: "u", ResourceVersion: "7", Propagation: "Foreground", GracePeriod: &grace},
			metav1.DeleteOptions{GracePeriodSeconds: &grace, PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}},
		},
		"in any state": {apply.Deletion{UID: "u"}, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}},
	} {
		if diff := cmp.Diff(tc.want, deleteOptions(tc.deletion)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

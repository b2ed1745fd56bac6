package crds

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
)

// TestVersion: the CRD has the version of its types.
func TestVersion(t *testing.T) {
	t.Parallel()
	var definition metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(PolicySets, &definition); err != nil {
		t.Fatal(err)
	}
	if got := definition.Annotations[edictv1.CRDVersionAnnotation]; got != strconv.Itoa(edictv1.CRDVersion) {
		t.Errorf("the CRD has the version %q, the types have %d", got, edictv1.CRDVersion)
	}
}

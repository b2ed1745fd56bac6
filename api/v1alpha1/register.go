package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the resources.
var GroupVersion = schema.GroupVersion{Group: "edict.dev", Version: "v1alpha1"}

// CRDVersion is the version of the CRD that these types belong to, an integer in its annotation
// CRDVersionAnnotation. It rises with every change of the fields.
const (
	CRDVersion           = 1
	CRDVersionAnnotation = "edict.dev/crd-version"
)

// AddToScheme adds the types to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &PolicySet{}, &PolicySetList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

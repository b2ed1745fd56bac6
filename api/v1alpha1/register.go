package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the resources.
var GroupVersion = schema.GroupVersion{Group: "edict.dev", Version: "v1alpha1"}

// AddToScheme adds the types to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &PolicySet{}, &PolicySetList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

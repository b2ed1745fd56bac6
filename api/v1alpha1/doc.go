// Package v1alpha1 has the resources of Edict.
//
// +kubebuilder:object:generate=true
// +groupName=edict.dev
package v1alpha1

import "k8s.io/apimachinery/pkg/runtime/schema"

// GroupVersion is the group and version of the resources.
var GroupVersion = schema.GroupVersion{Group: "edict.dev", Version: "v1alpha1"}

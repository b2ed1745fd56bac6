// Package v1alpha1 has the resources of Edict.
//
// +kubebuilder:object:generate=true
// +groupName=edict.dev
package v1alpha1
